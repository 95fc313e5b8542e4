import { type IncomingMessage, request, validateHeaderValue } from 'node:http'
import { connect, type Socket } from 'node:net'
import { Duplex } from 'node:stream'

/** Where and how requests are posted. */
export interface PlainClientOptions {
  /** Of a server that speaks HTTP without TLS. */
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  /** Most bytes of the body of an answer. */
  readonly largestAnswer: number
}

/** An answer that came whole. */
export interface PlainAnswer {
  readonly status: number
  readonly retryAfter: string | undefined
  readonly body: Buffer
}

/** Most bytes of the head of an answer that is read here. */
const LONGEST_HEAD = 8_192
const BLANK_LINE = '\r\n\r\n'
/** A status line and headers. It is unambiguous, so that matching takes linear time. */
const HEAD = /^HTTP\/1\.1 ([2-5]\d\d) [\t -~]*((?:\r\n[A-Za-z\d!#$%&'*+.^`|~-]+:[\t -~]*)+)$/
/** Headers that end the body or the connection other than by a length. */
const INTRICATE =
  /\r\n(?:transfer-encoding|connection|content-encoding|upgrade|trailer):(?![\t ]*keep-alive[\t ]*(?:\r|$))/i
const LENGTH = /\r\ncontent-length:[\t ]*(\d{1,9})[\t ]*(?=\r|$)/gi
const RETRY_AFTER = /\r\nretry-after:[\t ]*([^\r]*)/i

/**
 * Posts requests to one address, each on a connection of its own that is kept for the next. `node:http` takes three
 * times as long for a request as the operating system.
 *
 * An answer is read here if it is plain: with a length, and no header that says otherwise how it ends. Any other is
 * handed to `node:http` unread, and so are all requests after it. So no answer is read differently here than there.
 */
export class PlainClient implements Disposable {
  readonly #options: PlainClientOptions
  readonly #head: string
  readonly #idle = new Set<Connection>()
  #isClosed = false

  constructor(options: PlainClientOptions) {
    const { url, headers } = options
    this.#options = options
    for (const [name, value] of Object.entries(headers)) validateHeaderValue(name, value)
    const lines = Object.entries({ host: url.host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
    this.#head = `POST ${url.pathname}${url.search} HTTP/1.1\r\n${lines.join('')}content-length: `
  }

  /**
   * Posts a text. Resolves with its answer, or with the answer that `node:http` reads. Rejects with the errors of the
   * connection, with the code `ECONNRESET` if it ends before there is an answer, and `incomplete` within one.
   */
  async post(text: string, signal: AbortSignal): Promise<PlainAnswer | IncomingMessage> {
    const sent = `${this.#head}${Buffer.byteLength(text)}${BLANK_LINE}${text}`
    for (;;) {
      signal.throwIfAborted()
      const kept = this.#idle.values().next().value
      const connection = kept ?? new Connection(this.#options, (ended) => this.#idle.delete(ended))
      this.#idle.delete(connection)
      const abort = () => connection.destroy()
      signal.addEventListener('abort', abort)
      try {
        const answer = await connection.post(sent)
        if (connection.isIdle && !this.#isClosed) this.#idle.add(connection)
        else if ('body' in answer) connection.destroy()
        return answer
      } catch (error) {
        // The server has closed a connection that was idle, before it read the request.
        if (!kept || connection.hasBegun || signal.aborted) throw error
      } finally {
        signal.removeEventListener('abort', abort)
      }
    }
  }

  /** Closes the connections that are kept, and the others after their answers. */
  [Symbol.dispose](): void {
    this.#isClosed = true
    for (const connection of this.#idle) connection.destroy()
  }
}

/** One connection, as long as its answers are plain. */
class Connection {
  readonly #options: PlainClientOptions
  readonly #socket: Socket
  /** Who waits for an answer. */
  #waiting: PromiseWithResolvers<PlainAnswer | IncomingMessage> | null = null
  #answer: Omit<PlainAnswer, 'body'> | null = null
  #parts: Buffer[] = []
  /** Bytes of the body that are still to come. */
  #missing = 0
  #error: Error | null = null

  constructor(options: PlainClientOptions, onEnded: (connection: Connection) => void) {
    this.#options = options
    const { hostname, port } = options.url
    this.#socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 80), noDelay: true })
    this.#socket.on('data', this.#receive)
    this.#socket.on('error', this.#onError)
    // What a server writes or ends unasked is of no use.
    this.#socket.on('close', () => {
      onEnded(this)
      this.#fail()
    })
  }

  /** Whether a part of the answer to the last request has come. */
  get hasBegun(): boolean {
    return this.#answer !== null || this.#parts.length > 0
  }

  /** Whether the last answer was read here, and another request can be sent. */
  get isIdle(): boolean {
    return this.#answer !== null && this.#waiting === null && this.#socket.writable
  }

  post(sent: string): Promise<PlainAnswer | IncomingMessage> {
    this.#answer = null
    this.#parts = []
    const waiting = Promise.withResolvers<PlainAnswer | IncomingMessage>()
    this.#waiting = waiting
    if (this.#socket.destroyed) this.#fail()
    else this.#socket.write(sent)
    return waiting.promise
  }

  destroy(): void {
    this.#socket.destroy()
  }

  readonly #receive = (piece: Buffer): void => {
    if (!this.#waiting) this.destroy()
    else if (this.#answer) this.#gather(piece)
    else this.#begin(this.#parts.length > 0 ? Buffer.concat([...this.#parts, piece]) : piece)
  }

  #begin(piece: Buffer): void {
    const end = piece.indexOf(BLANK_LINE)
    if (end < 0 && piece.length <= LONGEST_HEAD) {
      this.#parts = [piece]
      return
    }
    const [, status, lines = ''] = (end < 0 ? null : HEAD.exec(piece.toString('latin1', 0, end))) ?? []
    const [length, other] = [...lines.matchAll(LENGTH)]
    const bytes = Number(length?.[1])
    if (status === undefined || !length || other || INTRICATE.test(lines) || status === '204' || status === '304') {
      this.#leave(piece)
      return
    }
    this.#answer = { status: Number(status), retryAfter: RETRY_AFTER.exec(lines)?.[1]?.trim() }
    this.#parts = []
    this.#missing = bytes
    if (bytes > this.#options.largestAnswer) this.destroy()
    else this.#gather(piece.subarray(end + BLANK_LINE.length))
  }

  #gather(piece: Buffer): void {
    this.#parts.push(piece)
    this.#missing -= piece.length
    // More than it announced: what follows is no answer to anything.
    if (this.#missing < 0) this.destroy()
    if (this.#missing !== 0) return
    const { resolve } = this.#waiting as PromiseWithResolvers<PlainAnswer>
    const body = this.#parts.length === 1 ? (this.#parts[0] as Buffer) : Buffer.concat(this.#parts)
    this.#waiting = null
    this.#parts = []
    resolve({ ...(this.#answer as Omit<PlainAnswer, 'body'>), body })
  }

  /** Lets `node:http` read the answer, as if it had sent the request. */
  #leave(unread: Buffer): void {
    const socket = this.#socket
    const { resolve, reject } = this.#waiting as PromiseWithResolvers<IncomingMessage>
    this.#waiting = null
    socket.off('data', this.#receive)
    const replayed = new Duplex({
      read: () => void socket.resume(),
      write: (_part, _encoding, done) => done(),
      destroy(error, done) {
        socket.destroy()
        done(error)
      },
    })
    replayed.push(unread)
    socket.on('data', (part: Buffer) => replayed.push(part) || socket.pause())
    socket.on('end', () => replayed.push(null))
    socket.on('close', () => replayed.destroy(this.#error ?? undefined))
    const { url, headers } = this.#options
    request(url, { method: 'POST', headers: { ...headers }, createConnection: () => replayed })
      .on('response', resolve)
      .on('error', reject)
      .end()
  }

  readonly #onError = (error: Error): void => {
    this.#error = error
  }

  #fail(): void {
    const hungUp = () => Object.assign(new Error('The server hung up.'), { code: 'ECONNRESET' })
    const brokeOff = () => Object.assign(new Error('The answer broke off.'), { code: 'incomplete' })
    this.#waiting?.reject(this.hasBegun ? brokeOff() : (this.#error ?? hungUp()))
    this.#waiting = null
  }
}
