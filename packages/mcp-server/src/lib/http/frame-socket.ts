import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import { drained } from '../transport/drain.ts'
import type { ClientIdentity } from './extra-routes.ts'
import type { OpenSocket } from './web-sockets.ts'

/** What speaks with the client of a {@link FrameSocket}. None of its functions throws or rejects. */
export interface FrameHandler {
  /** Answers one frame: with a text, or with `null` to close the connection. */
  answer(text: string): Promise<string | null>
  /** Returns what is sent after {@link FrameSocket.wake}, in its place among the answers; `null` for nothing. */
  push?(): Promise<string | null>
  /** Returns why a client with a valid token has to go; `null` if it may stay. Default: it may. */
  check?(): string | null
}

/** Frames that wait at which reading from a socket pauses. */
const READ_AHEAD = 16
/** Bytes of waiting frames at which it pauses: one frame may have a megabyte. */
const READ_AHEAD_BYTES = 65_536

/** A client of extra routes: answers frames of text one by one, and neither reads nor sends while it reads none. */
export class FrameSocket implements OpenSocket {
  readonly #webSocket: WebSocket
  readonly #stream: Duplex
  readonly #client: ClientIdentity
  readonly #handler: FrameHandler
  #received: string[] = []
  /** Bytes of the frames that were received and are not being answered. */
  #waiting = 0
  #working: Promise<void> | null = null
  #woken = false
  #closing = false

  constructor(webSocket: WebSocket, stream: Duplex, client: ClientIdentity, handler: FrameHandler) {
    this.#webSocket = webSocket
    this.#stream = stream
    this.#client = client
    this.#handler = handler
    webSocket.on('message', (data: Buffer, isBinary) => {
      if (this.#closing) return
      if (isBinary) return webSocket.close(1003, 'Send text.')
      this.#received.push(data.toString())
      this.#waiting += data.length
      if (this.#isAhead) webSocket.pause()
      this.#work()
    })
    // `ws` closes the socket with a fitting code itself.
    webSocket.on('error', () => {})
    webSocket.on('close', () => this.#ignoreFrames())
  }

  get isOpen(): boolean {
    return this.#webSocket.readyState === this.#webSocket.OPEN
  }

  get count(): number {
    return this.#received.length + (this.#working ? 1 : 0)
  }

  /** Sends what the handler pushes, as soon as the present answer is sent and read. */
  wake(): void {
    this.#woken = true
    this.#work()
  }

  close(code: number, reason?: string): void {
    this.#ignoreFrames()
    this.#webSocket.resume()
    this.#webSocket.close(code, reason)
  }

  async checkClient(): Promise<string | null> {
    if (!(await this.#client.isWelcome())) return 'The token is not valid any more.'
    return this.#handler.check?.() ?? null
  }

  async finish(): Promise<void> {
    this.#closing = true
    while (this.#working) await this.#working
  }

  get #isAhead(): boolean {
    return this.#received.length >= READ_AHEAD || this.#waiting >= READ_AHEAD_BYTES
  }

  #ignoreFrames(): void {
    this.#closing = true
    this.#received = []
  }

  #work(): void {
    // Not at once: what is woken by the handler's first lines must find that this works already.
    this.#working ??= Promise.resolve().then(() => this.#workOff())
  }

  async #workOff(): Promise<void> {
    while (this.#received.length > 0 || this.#woken) {
      const text = this.#received.shift()
      if (text !== undefined) {
        this.#waiting -= Buffer.byteLength(text)
        const answer = await this.#handler.answer(text)
        if (answer === null) this.close(1000)
        else this.#send(answer)
      }
      if (this.#woken) {
        this.#woken = false
        this.#send((await this.#handler.push?.()) ?? null)
      }
      if (this.#stream.writableNeedDrain) await drained(this.#stream)
      if (this.#webSocket.isPaused && !this.#isAhead) this.#webSocket.resume()
    }
    // Synchronously after the last check, so that nothing to push is missed.
    this.#working = null
  }

  #send(text: string | null): void {
    if (text !== null && this.isOpen) this.#webSocket.send(text)
  }
}
