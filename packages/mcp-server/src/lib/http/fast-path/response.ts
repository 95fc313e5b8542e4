import { EventEmitter } from 'node:events'
import { type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { KEEP_ALIVE } from '../../transport/timeouts.ts'

/** A response as the handler writes it: of `node:http`, or to a plain request. */
export type HttpResponse = ServerResponse | PlainResponse

const KEPT = `Connection: keep-alive\r\nKeep-Alive: timeout=${KEEP_ALIVE}\r\n`

/**
 * The response to a plain request, byte for byte as `node:http` writes it: in one write if its length is known,
 * otherwise in chunks. Emits `drain`, and `close` when it is handed to the operating system or its connection is gone;
 * `onClose` then gets whether the connection is kept for another request.
 */
export class PlainResponse extends EventEmitter {
  readonly #socket: Socket
  readonly #onClose: (keeps: boolean) => void
  #headers: Readonly<Record<string, string | number>> | undefined
  /** The head until it is written, then empty; `null` before `writeHead`. */
  #head: string | null = null
  #chunked = false
  #keeps = true
  #ended = false
  #finished = false
  #closed = false

  constructor(socket: Socket, onClose: (keeps: boolean) => void) {
    super()
    this.#socket = socket
    this.#onClose = onClose
  }

  get headersSent(): boolean {
    return this.#head !== null
  }

  get destroyed(): boolean {
    return this.#closed || this.#socket.destroyed
  }

  get writable(): boolean {
    return !this.#ended && this.#socket.writable
  }

  get writableLength(): number {
    return this.#socket.writableLength
  }

  get writableFinished(): boolean {
    return this.#finished
  }

  setHeader(name: string, value: string | number): void {
    this.#headers = { ...this.#headers, [name]: value }
  }

  /** Sets the head, which is written with the first piece of the body. Throws if it was set before. */
  writeHead(status: number, more?: Readonly<Record<string, string | number>>): this {
    if (this.#head !== null || this.#ended) throw new Error('The head of an answer is written once.')
    const headers = this.#headers ? { ...this.#headers, ...more } : more
    let head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`
    for (const name in headers) head += `${name}: ${headers[name]}\r\n`
    this.#keeps = headers?.Connection === undefined
    this.#chunked = headers?.['Content-Length'] === undefined
    head += `Date: ${httpDate()}\r\n`
    if (this.#keeps) head += KEPT
    this.#head = this.#chunked ? `${head}Transfer-Encoding: chunked\r\n\r\n` : `${head}\r\n`
    return this
  }

  flushHeaders(): void {
    this.#socket.write(this.#takeHead(), 'latin1')
  }

  write(text: string): boolean {
    return this.#socket.write(this.#takeHead() + chunkOf(text))
  }

  end(text = '', encoding: 'latin1' | 'utf8' = 'utf8'): void {
    if (this.#ended) return
    this.#ended = true
    const socket = this.#socket
    const last = this.#chunked ? `${text && chunkOf(text)}0\r\n\r\n` : text
    socket.write(this.#takeHead() + last, encoding)
    if (socket.writableLength === 0) this.#finish(socket.destroyed)
    else socket.write('', (error) => this.#finish(Boolean(error)))
  }

  #finish(hasFailed: boolean): void {
    this.#finished = !hasFailed
    this.close()
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.emit('close')
    this.#onClose(this.#keeps)
  }

  destroy(): void {
    this.#socket.destroy()
  }

  #takeHead(): string {
    const head = this.#head
    this.#head = ''
    return head ?? ''
  }
}

function chunkOf(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
}

let date = ''
let dateSince = 0

/** The `Date` header of a response (RFC 9110, section 6.6.1), formatted once a second. */
function httpDate(): string {
  const now = Date.now()
  // A clock may be set back.
  if (now < dateSince || now >= dateSince + 1_000) {
    date = new Date(now).toUTCString()
    dateSince = now - (now % 1_000)
  }
  return date
}
