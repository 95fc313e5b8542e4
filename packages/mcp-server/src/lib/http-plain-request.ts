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

/** Bytes of a head that is read here. */
const LONGEST_HEAD = 8_192
const BLANK_LINE = '\r\n\r\n'
/** A request line and headers. No two ways lead through it, so it takes linear time. */
const HEAD = /^POST (\/[!-~]*) HTTP\/1\.1((?:\r\n[A-Za-z\d!#$%&'*+.^`|~-]+:[\t -~]*)+)$/
const LENGTH = /^\d{1,7}$/
/** Headers by which a request asks for more than an answer, or says in another way than by a length where it ends. */
const INTRICATE = new Set(['expect', 'http2-settings', 'te', 'trailer', 'transfer-encoding', 'upgrade'])

/**
 * Reads requests that are plain: a POST in visible ASCII that says no header twice, and is whole in one piece. Nearly every
 * call is.
 *
 * Of all else, right or wrong, it gives `null`: that is for a whole parser of HTTP to say. So nothing is taken here in
 * another sense than it would be taken there.
 */
export class PlainRequests {
  // A client says the same headers with nearly every call.
  #lines = ''
  #headers: IncomingHttpHeaders | null = null

  read(socket: Socket, piece: Buffer): PlainRequest | null {
    const end = piece.indexOf(BLANK_LINE)
    if (end < 0 || end > LONGEST_HEAD) return null
    const [, url, lines] = HEAD.exec(piece.toString('latin1', 0, end)) ?? []
    if (url === undefined || lines === undefined) return null
    if (lines !== this.#lines) {
      this.#headers = readHeaders(lines)
      this.#lines = lines
    }
    const headers = this.#headers
    const body = piece.subarray(end + BLANK_LINE.length)
    return headers && Number(headers['content-length']) === body.length
      ? { method: 'POST', url, headers, body, socket }
      : null
  }
}

/** The headers by name; `null` where they are not those of a plain request. */
function readHeaders(lines: string): IncomingHttpHeaders | null {
  const headers: Record<string, string> = {}
  for (const line of lines.slice(2).split('\r\n')) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).toLowerCase()
    // What every object has counts as said before.
    if (name in headers || INTRICATE.has(name)) return null
    headers[name] = line.slice(colon + 1).trim()
  }
  const { host, connection = 'keep-alive', 'content-length': length = '' } = headers
  return host !== undefined && connection.toLowerCase() === 'keep-alive' && LENGTH.test(length) ? headers : null
}
