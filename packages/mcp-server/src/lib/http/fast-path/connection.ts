import type { Server, Socket } from 'node:net'
import { GatheredBytes } from '../../transport/byte-buffer.ts'
import { KEEP_ALIVE, TIMEOUTS } from '../../transport/timeouts.ts'
import { type PlainRequest, PlainRequests } from './request.ts'
import { PlainResponse } from './response.ts'

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
export class PlainConnections {
  readonly #open = new Map<Socket, PlainConnection>()

  /** `server` is one of `node:http` that has had no connection yet. */
  constructor(server: Server, handler: PlainHandler) {
    const later = server.listeners('connection')
    server.removeAllListeners('connection')
    server.on('connection', (socket: Socket) => {
      const connection = new PlainConnection(socket, handler, () => {
        this.#open.delete(socket)
        for (const listener of later) listener.call(server, socket)
      })
      this.#open.set(socket, connection)
      socket.once('close', () => this.#open.delete(socket))
    })
  }

  /** Whether a request of a connection is being answered here. */
  isAnswering(socket: Socket): boolean {
    return this.#open.get(socket)?.isAnswering === true
  }

  /** Destroys the connections that were not handed over. */
  end(): void {
    for (const connection of this.#open.values()) connection.end()
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
