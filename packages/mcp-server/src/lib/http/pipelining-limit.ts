import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Requests of one connection that are taken in one turn of the event loop. */
const TAKEN = 64
/** Requests of one connection that wait for their turn before no more of it is read. */
const WAITING = 8

/** What one connection has asked. */
interface Pipeline {
  /** The response that is being made. */
  current: ServerResponse
  /** Begins to answer the others, in the order in which they came. */
  readonly waiting: (readonly [ServerResponse, () => void])[]
}

/**
 * Answers the requests of a connection one after another, each once the answer before it is handed to the system.
 *
 * `node:http` alone begins every request that it has read, and keeps their answers for a client that does not take them: one
 * piece of 64 short requests made a server hold 64 long answers, and make them in one turn. Answers go out in order in any case, so a
 * client gets none of them later. One that has more than 64 requests read in a single turn is hung up on.
 */
export class Pipelines {
  readonly #taken = new Map<Socket, number>()
  readonly #pipelines = new WeakMap<Socket, Pipeline>()

  /** Calls `begin` when it is the request's turn, or never, where its connection is gone by then. */
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

  /** The response that is being made to a connection. */
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

  /** Counts a request, and says whether its connection has sent too many since the last turn. */
  #exceeds(socket: Socket): boolean {
    const taken = (this.#taken.get(socket) ?? 0) + 1
    if (taken === 1 && this.#taken.size === 0) setImmediate(() => this.#taken.clear())
    this.#taken.set(socket, taken)
    return taken > TAKEN
  }
}
