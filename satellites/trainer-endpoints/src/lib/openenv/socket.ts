import type { Duplex } from 'node:stream'
import { type ClientIdentity, drained } from '@episodic/mcp-server/http'
import type { WebSocket } from 'ws'

/** Frames that wait at which reading from a socket pauses. */
const READ_AHEAD = 16
/** Bytes of waiting frames at which it pauses: one frame may have a megabyte. */
const READ_AHEAD_BYTES = 65_536

/** Answers one frame: with a text, or with `null` to close the connection. Never rejects. */
export type AnswerFrame = (text: string) => Promise<string | null>

/** The connection of one client. It answers frames one after another, and reads no more while its client reads none. */
export class FrameSocket {
  readonly #webSocket: WebSocket
  readonly #stream: Duplex
  readonly #client: ClientIdentity
  readonly #answer: AnswerFrame
  #received: string[] = []
  /** Bytes of the frames that were received and are not being answered. */
  #waiting = 0
  #working: Promise<void> | null = null
  #leaving = false
  #alive = true

  constructor(webSocket: WebSocket, stream: Duplex, client: ClientIdentity, answer: AnswerFrame) {
    this.#webSocket = webSocket
    this.#stream = stream
    this.#client = client
    this.#answer = answer
    webSocket.on('pong', () => {
      this.#alive = true
    })
    webSocket.on('message', (data: Buffer, isBinary) => {
      this.#alive = true
      if (this.#leaving) return
      if (isBinary) return webSocket.close(1003, 'Send text.')
      this.#received.push(data.toString())
      this.#waiting += data.length
      if (this.#isAhead) webSocket.pause()
      this.#working ??= this.#work()
    })
    // `ws` closes the socket with a fitting code itself.
    webSocket.on('error', () => {})
    webSocket.on('close', () => {
      this.#leaving = true
      this.#received = []
    })
  }

  /** Frames that were received and not answered. */
  get count(): number {
    return this.#received.length + (this.#working ? 1 : 0)
  }

  /** Closes the connection if its client is gone, or its token no longer valid; else pings the client. */
  async checkClient(): Promise<void> {
    const webSocket = this.#webSocket
    if (!(await this.#client.isWelcome())) return webSocket.close(1008, 'The token is not valid any more.')
    // While paused, pongs are not read.
    if (!this.#alive && !webSocket.isPaused) return webSocket.terminate()
    this.#alive = false
    webSocket.ping()
  }

  /** Reads no more frames, answers those that were received, and resolves when the connection is closed. */
  async drain(): Promise<void> {
    this.#leaving = true
    const webSocket = this.#webSocket
    const closed = new Promise((resolve) => webSocket.once('close', resolve))
    await this.#working
    if (webSocket.readyState === webSocket.CLOSED) return
    webSocket.resume()
    webSocket.close(1001, 'The server is stopping.')
    await closed
  }

  terminate(): void {
    this.#webSocket.terminate()
  }

  get #isAhead(): boolean {
    return this.#received.length >= READ_AHEAD || this.#waiting >= READ_AHEAD_BYTES
  }

  async #work(): Promise<void> {
    for (let text = this.#received.shift(); text !== undefined; text = this.#received.shift()) {
      this.#waiting -= Buffer.byteLength(text)
      const answer = await this.#answer(text)
      if (answer === null) {
        this.#received = []
        this.#webSocket.close(1000)
        break
      }
      this.#webSocket.send(answer)
      if (this.#stream.writableNeedDrain) await drained(this.#stream)
      if (this.#webSocket.isPaused && !this.#isAhead) this.#webSocket.resume()
    }
    this.#working = null
  }
}
