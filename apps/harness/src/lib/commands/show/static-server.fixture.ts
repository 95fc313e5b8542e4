import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'

/** A web server of static files, as plain as they come: it sends whole files and knows no ranges. */
export interface StaticServer extends AsyncDisposable {
  readonly url: string
  /** The paths that were asked for, with the range if one was. */
  readonly asked: readonly string[]
}

const TYPES: { readonly [extension: string]: string } = {
  '.html': 'text/html; charset=utf-8',
  '.gz': 'application/gzip',
}

/**
 * Serves a folder on the loopback interface.
 *
 * @param saysGzip - whether it sends gzipped files with `content-encoding: gzip`, as some servers do by their names.
 */
export async function serveStatic(folder: string, saysGzip: boolean): Promise<StaticServer> {
  const asked: string[] = []
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost')
    asked.push([pathname, request.headers.range].filter(Boolean).join(' '))
    try {
      const name = pathname.endsWith('/') ? `${pathname}index.html` : pathname
      const bytes = await readFile(join(folder, name))
      const type = TYPES[extname(name)] ?? 'application/octet-stream'
      const encoding = saysGzip && name.endsWith('.gz') ? { 'content-encoding': 'gzip' } : {}
      response.writeHead(200, { 'content-type': type, 'cache-control': 'no-store', ...encoding }).end(bytes)
    } catch {
      response.writeHead(404).end()
    }
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
