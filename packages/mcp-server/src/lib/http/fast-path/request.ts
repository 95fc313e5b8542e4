import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

/** A complete POST request with its body. */
export interface PlainRequest {
  readonly method: 'POST'
  readonly url: string
  /** Names are in lower case. */
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  readonly socket: Socket
}

/** A request as the handler reads it: parsed by `node:http`, or plain. */
export type HttpRequest = IncomingMessage | PlainRequest

/** Returns the path of a URL without its query. Slashes that follow each other, as joined URLs have them, are one. */
export function pathOf(url: string | undefined): string {
  return ((url ?? '').split('?', 1)[0] as string).replace(/\/{2,}/g, '/')
}

/** Most bytes of a request's head, and most headers, that are parsed here. */
const LONGEST_HEAD = 8_192
const MOST_HEADERS = 64
/** Most characters of headers that a connection remembers between two requests. */
const LONGEST_MEMORY = 2_048
const BLANK_LINE = '\r\n\r\n'
/** A request line and headers. It is unambiguous, so that matching takes linear time. */
const HEAD = /^POST (\/[!-~]*) HTTP\/1\.1((?:\r\n[A-Za-z\d!#$%&'*+.^`|~-]+:[\t -~]*)+)$/
const LENGTH = /^\d{1,7}$/
/** Headers that ask for more than an answer, or mark the end of the body other than by a length. */
const INTRICATE = new Set([
  'expect',
  'http2-settings',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/**
 * Reads plain requests: a POST in visible ASCII, without a repeated header, that arrives in one piece. Nearly every
 * call is plain.
 *
 * Returns `null` for anything else, valid or not, and `node:http` parses it. So no request is interpreted differently
 * here than there.
 */
export class PlainRequests {
  // A client repeats the same head with nearly every call.
  #url = ''
  #lines = ''
  #headers: IncomingHttpHeaders | null = null

  read(socket: Socket, piece: Buffer): PlainRequest | null {
    const end = piece.indexOf(BLANK_LINE)
    if (end < 0 || end > LONGEST_HEAD) return null
    const [, url, lines] = HEAD.exec(piece.toString('latin1', 0, end)) ?? []
    if (url === undefined || lines === undefined) return null
    const headers = lines === this.#lines ? this.#headers : readHeaders(lines)
    if (lines !== this.#lines && lines.length <= LONGEST_MEMORY) {
      this.#lines = own(lines)
      this.#headers = headers
    }
    if (url !== this.#url) this.#url = own(url)
    const body = piece.subarray(end + BLANK_LINE.length)
    return headers && Number(headers['content-length']) === body.length
      ? { method: 'POST', url: this.#url, headers, body, socket }
      : null
  }
}

/** Copies a text: a substring would keep the whole request in memory for as long as a session keeps the substring. */
function own(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1')
}

/** Returns the headers by name; `null` if they are not those of a plain request. */
function readHeaders(lines: string): IncomingHttpHeaders | null {
  const said = lines.slice(2).split('\r\n')
  if (said.length > MOST_HEADERS) return null
  const headers: Record<string, string> = {}
  for (const line of said) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).toLowerCase()
    // Names of `Object.prototype` count as repeated.
    if (name in headers || INTRICATE.has(name)) return null
    headers[name] = own(line.slice(colon + 1).trim())
  }
  const { host, connection = 'keep-alive', 'content-length': length = '' } = headers
  return host !== undefined && connection.toLowerCase() === 'keep-alive' && LENGTH.test(length) ? headers : null
}
