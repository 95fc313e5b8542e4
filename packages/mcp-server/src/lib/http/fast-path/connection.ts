import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Server, Socket } from 'node:net'
import { GatheredBytes } from '../../transport/byte-buffer.ts'
import { KEEP_ALIVE, TIMEOUTS } from '../../transport/timeouts.ts'
import { PlainResponse } from './response.ts'

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

/** Bytes of further requests that are read while an answer is pending. */
const MOST_AHEAD = 65_536

/** Answers requests. It has to end every response. */
export interface PlainHandler {
  /** Returns whether `node:http` has to parse the requests to a URL, as if they were not plain; `null` for none. */
  readonly leaves: ((url: string) => boolean) | null
  answer(request: PlainRequest, response: PlainResponse): void
}

/**
 * Answers plain requests without `node:http`, which saves more time per call than the rules of an environment take.
 *
 * A connection starts here. The first request that is not plain, that is for a URL which the handler leaves, or that is
 * sent before the previous answer, is handed over to `node:http` unread, together with the connection, which stays
 * there.
 */
export function createPlainConnections(server: Server, handler: PlainHandler) {
  const open = new Map<Socket, PlainConnection>()
  const later = server.listeners('connection')
  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => {
    const connection = new PlainConnection(socket, handler, () => {
      open.delete(socket)
      for (const listener of later) listener.call(server, socket)
    })
    open.set(socket, connection)
    socket.once('close', () => open.delete(socket))
  })
  return {
    isAnswering(socket: Socket): boolean {
      return open.get(socket)?.isAnswering === true
    },
    end(): void {
      for (const connection of open.values()) connection.end()
    },
  }
}

/** One connection, as long as its requests are plain and each waits for the answer to the previous one. */
class PlainConnection {
  readonly #socket: Socket
  readonly #handler: PlainHandler
  readonly #handOver: () => void
  readonly #requests = new PlainRequests()
  #answering: PlainResponse | null = null
  /** Bytes that arrived while an answer is pending; `null` if there are none, as nearly always. */
  #ahead: GatheredBytes | null = null
  #began = false

  constructor(socket: Socket, handler: PlainHandler, handOver: () => void) {
    this.#socket = socket
    this.#handler = handler
    this.#handOver = handOver
    for (const [event, listener] of this.#listeners) socket.on(event, listener)
    socket.setTimeout(TIMEOUTS.head * 1_000)
  }

  get isAnswering(): boolean {
    return this.#answering !== null
  }

  end(): void {
    this.#socket.destroy()
  }

  readonly #receive = (piece: Buffer): void => {
    const socket = this.#socket
    if (this.#answering) {
      this.#ahead ??= new GatheredBytes()
      this.#ahead.add(piece)
      // Not earlier: a paused socket does not report that its client has hung up.
      if (this.#ahead.length > MOST_AHEAD) socket.pause()
      return
    }
    const request = this.#requests.read(socket, piece)
    if (!request || this.#handler.leaves?.(request.url)) {
      this.#leave(piece)
      return
    }
    // One second more than the `Keep-Alive` header promises, so that no request meets a closing connection.
    if (!this.#began) socket.setTimeout((KEEP_ALIVE + 1) * 1_000)
    this.#began = true
    this.#answering = new PlainResponse(socket, this.#goOn)
    this.#handler.answer(request, this.#answering)
  }

  readonly #goOn = (keeps: boolean): void => {
    this.#answering = null
    if (!keeps) this.#socket.destroySoon()
    else if (this.#ahead && !this.#socket.destroyed) this.#leave(this.#ahead.take())
  }

  #leave(unread: Buffer): void {
    const socket = this.#socket
    for (const [event, listener] of this.#listeners) socket.off(event, listener)
    socket.setTimeout(0)
    socket.unshift(unread)
    this.#handOver()
    socket.resume()
  }

  readonly #listeners = [
    ['data', this.#receive],
    ['end', () => void this.#socket.end()],
    ['close', () => this.#answering?.close()],
    ['drain', () => this.#answering?.emit('drain')],
    ['timeout', () => this.#answering ?? this.#socket.destroy()],
    // A broken connection also emits `close`, which is handled above.
    ['error', () => {}],
  ] as const
}

/** Most bytes of a request's head, and most headers, that are parsed here. */
const LONGEST_HEAD = 8_192
const MOST_HEADERS = 64
/** Most bytes of headers that a connection remembers between two requests. */
const LONGEST_MEMORY = 2_048
const BLANK_LINE = '\r\n\r\n'
const REQUEST_LINE = /^POST \/[!-~]* HTTP\/1\.1$/
/** Header lines, each with the end of the line before it. It is unambiguous, so that matching takes linear time. */
const HEADER_LINES = /^(?:\r\n[A-Za-z\d!#$%&'*+.^`|~-]+:[\t -~]*)+$/
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
  // A client repeats the same headers with nearly every call.
  #lines: Uint8Array = new Uint8Array()
  #headers: IncomingHttpHeaders | null = null

  read(socket: Socket, piece: Buffer): PlainRequest | null {
    const end = piece.indexOf(BLANK_LINE)
    if (end < 0 || end > LONGEST_HEAD) return null
    const start = piece.indexOf('\r\n')
    const requestLine = piece.toString('latin1', 0, start)
    if (!REQUEST_LINE.test(requestLine)) return null
    const length = end - start
    const isKnown = length === this.#lines.length && piece.compare(this.#lines, 0, length, start, end) === 0
    const headers = isKnown ? this.#headers : readHeaders(piece.toString('latin1', start, end))
    if (!isKnown && length <= LONGEST_MEMORY) {
      this.#lines = new Uint8Array(piece.subarray(start, end))
      this.#headers = headers
    }
    const body = piece.subarray(end + BLANK_LINE.length)
    const url = requestLine.slice('POST '.length, -' HTTP/1.1'.length)
    return headers && Number(headers['content-length']) === body.length
      ? { method: 'POST', url, headers, body, socket }
      : null
  }
}

/** Returns the headers by name; `null` if they are not those of a plain request. */
function readHeaders(lines: string): IncomingHttpHeaders | null {
  if (!HEADER_LINES.test(lines)) return null
  const said = lines.slice(2).split('\r\n')
  if (said.length > MOST_HEADERS) return null
  const headers: Record<string, string> = {}
  for (const line of said) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).toLowerCase()
    // Names of `Object.prototype` count as repeated.
    if (name in headers || INTRICATE.has(name)) return null
    // A copy: a substring would keep the whole head in memory for as long as a session keeps it.
    headers[name] = Buffer.from(line.slice(colon + 1).trim(), 'latin1').toString('latin1')
  }
  const { host, connection = 'keep-alive', 'content-length': length = '' } = headers
  return host !== undefined && connection.toLowerCase() === 'keep-alive' && LENGTH.test(length) ? headers : null
}
