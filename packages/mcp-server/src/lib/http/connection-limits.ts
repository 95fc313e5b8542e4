import { type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'

/** Requests of one connection that are accepted in one turn of the event loop. */
const TAKEN = 64
/** Waiting requests of one connection at which reading from it pauses. */
const WAITING = 8

interface Pipeline {
  current: ServerResponse
  /** Start the other responses, in the order of their requests. */
  readonly waiting: (readonly [ServerResponse, () => void])[]
}

/**
 * Answers the requests of a connection one after another: each starts once the previous answer is handed to the
 * operating system.
 *
 * `node:http` starts every request that it has read, and buffers the answers for a client that does not read them: 64
 * short requests in one packet make a server produce 64 long answers in one turn, and hold them. Answers are sent in
 * order in any case, so no client receives one later. A connection with more than 64 requests in one turn is closed.
 */
export class Pipelines {
  readonly #taken = new Map<Socket, number>()
  readonly #pipelines = new WeakMap<Socket, Pipeline>()

  /** Calls `begin` when it is the request's turn; never if its connection is gone by then. */
  take(response: ServerResponse, socket: Socket, begin: () => void): void {
    if (this.#exceeds(socket)) {
      socket.destroy()
      return
    }
    response.once('close', () => this.#goOn(socket))
    const pipeline = this.#pipelines.get(socket)
    if (!pipeline) {
      this.#pipelines.set(socket, { current: response, waiting: [] })
      begin()
      return
    }
    pipeline.waiting.push([response, begin])
    if (pipeline.waiting.length >= WAITING) socket.pause()
  }

  currentOf(socket: Socket): ServerResponse | undefined {
    return this.#pipelines.get(socket)?.current
  }

  #goOn(socket: Socket): void {
    const pipeline = this.#pipelines.get(socket)
    const next = socket.destroyed ? undefined : pipeline?.waiting.shift()
    if (!pipeline || !next) {
      this.#pipelines.delete(socket)
      return
    }
    const [response, begin] = next
    pipeline.current = response
    if (pipeline.waiting.length < WAITING) socket.resume()
    begin()
  }

  /** Counts a request, and returns whether its connection has sent too many in this turn. */
  #exceeds(socket: Socket): boolean {
    const taken = (this.#taken.get(socket) ?? 0) + 1
    if (taken === 1 && this.#taken.size === 0) setImmediate(() => this.#taken.clear())
    this.#taken.set(socket, taken)
    return taken > TAKEN
  }
}

/** Connections past their timeout that are ended in one turn of the event loop. */
const ENDED = 64

/**
 * Ends connections whose request is malformed or did not arrive in time, with the answers of `node:http`, a few in each
 * turn. Thousands of connections that opened together also time out together, and `node:http` would end all of them in
 * one turn.
 */
export function answerRequestErrors(server: Server, pipelines: Pipelines): void {
  const late: Socket[] = []
  const endSome = (): void => {
    for (const socket of late.splice(0, ENDED)) reject(socket, 408)
    if (late.length > 0) setImmediate(endSome)
  }
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code !== 'ERR_HTTP_REQUEST_TIMEOUT') return reject(socket as Socket, statusOf(error))
    if (late.push(socket as Socket) === 1) setImmediate(endSome)
  })

  function reject(socket: Socket, status: number): void {
    // In the middle of an answer, the client would read this as a part of it.
    if (socket.writable && !pipelines.currentOf(socket)?.headersSent)
      socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n\r\n`)
    socket.destroySoon()
  }
}

function statusOf({ code }: NodeJS.ErrnoException): number {
  if (code === 'HPE_HEADER_OVERFLOW') return 431
  return code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW' ? 413 : 400
}
