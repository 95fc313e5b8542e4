import type { IncomingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'

/** A whole POST, of which nothing has to be read twice. */
export interface PlainRequest {
  readonly method: 'POST'
  readonly url: string
  /** Names are in lower case. */
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  readonly socket: Socket
}

/** Bytes of a head that is read here, and headers in it. */
const LONGEST_HEAD = 8_192
const MOST_HEADERS = 64
/** Characters of headers that a connection remembers between two requests. */
const LONGEST_MEMORY = 2_048
const BLANK_LINE = '\r\n\r\n'
/** A request line and headers. No two ways lead through it, so it takes linear time. */
const HEAD = /^POST (\/[!-~]*) HTTP\/1\.1((?:\r\n[A-Za-z\d!#$%&'*+.^`|~-]+:[\t -~]*)+)$/
const LENGTH = /^\d{1,7}$/
/** Headers by which a request asks for more than an answer, or says in another way than by a length where it ends. */
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
 * Reads requests that are plain: a POST in visible ASCII that says no header twice, and is whole in one piece. Nearly every
 * call is.
 *
 * Of all else, right or wrong, it gives `null`: that is for a whole parser of HTTP to say. So nothing is taken here in
 * another sense than it would be taken there.
 */
export class PlainRequests {
  // A client says the same with nearly every call.
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

/** The same text with memory of its own: a part of a text keeps the whole of it, and a session keeps what it is called by. */
function own(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1')
}

/** The headers by name; `null` where they are not those of a plain request. */
function readHeaders(lines: string): IncomingHttpHeaders | null {
  const said = lines.slice(2).split('\r\n')
  if (said.length > MOST_HEADERS) return null
  const headers: Record<string, string> = {}
  for (const line of said) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).toLowerCase()
    // What every object has counts as said before.
    if (name in headers || INTRICATE.has(name)) return null
    headers[name] = own(line.slice(colon + 1).trim())
  }
  const { host, connection = 'keep-alive', 'content-length': length = '' } = headers
  return host !== undefined && connection.toLowerCase() === 'keep-alive' && LENGTH.test(length) ? headers : null
}
