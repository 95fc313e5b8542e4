import type { Socket } from 'node:net'

/** Requests of one connection that are taken in one turn of the event loop. */
const TAKEN = 64

/**
 * Tells connections that send many requests without waiting for an answer. One that does it can have tens of thousands
 * of them read in a single turn, in which nobody else is answered; `node:http` holds back only who does not read.
 */
export class Pipelines {
  readonly #taken = new Map<Socket, number>()

  /** Counts a request, and says whether its connection has sent too many since the last turn. */
  exceeds(socket: Socket): boolean {
    const taken = (this.#taken.get(socket) ?? 0) + 1
    if (taken === 1 && this.#taken.size === 0) setImmediate(() => this.#taken.clear())
    this.#taken.set(socket, taken)
    return taken > TAKEN
  }
}
