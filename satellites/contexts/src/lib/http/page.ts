import { readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'

interface PageFile {
  readonly type: string
  readonly body: Buffer
}

/** The folder of the page's files, from the sources and from the build. */
const FOLDER = new URL(import.meta.url.endsWith('.ts') ? '../../../page/' : '../page/', import.meta.url)

/** The page may load its own files and connect to its own server alone, and is not framed: no clickjacking. */
const HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-cache',
}

/** The web page of conversations: the same for each, it loads the conversation's description. */
export interface Page {
  readonly document: PageFile
  readonly files: ReadonlyMap<string, PageFile>
}

export function readPage(): Page {
  const read = (name: string, type: string): PageFile => ({ type, body: readFileSync(new URL(name, FOLDER)) })
  return {
    document: read('page.html', 'text/html; charset=utf-8'),
    files: new Map([
      ['page.css', read('page.css', 'text/css; charset=utf-8')],
      ['page.js', read('page.js', 'text/javascript; charset=utf-8')],
    ]),
  }
}

export function sendPage(response: ServerResponse, { type, body }: PageFile): void {
  response.writeHead(200, { ...HEADERS, 'Content-Type': type, 'Content-Length': body.byteLength }).end(body)
}
