import type { AgentCaller } from '../host/access/caller.ts'
import type { HttpResponse } from './fast-path/response.ts'

/**
 * Counts the calls in flight of each caller of the agent endpoint, for games: their answers may be held for minutes
 * until a seat may act, and each holds a connection. A caller is a principal, or without one a network address: session
 * URLs need no token, and a client can have many.
 */
export class HeldCalls {
  readonly #most: number
  readonly #counts = new Map<string, number>()

  /** A caller may hold as many as `most`. */
  constructor(most: number) {
    this.#most = most
  }

  /**
   * Counts a call until its response is closed. Returns the caller, whose call is not held if it has as many as it may.
   */
  enter(caller: AgentCaller, address: string | undefined, response: HttpResponse): AgentCaller {
    const key = caller.principal === null ? `from ${address}` : `principal ${caller.principal}`
    const count = this.#counts.get(key) ?? 0
    if (count >= this.#most) return { ...caller, address: { ...caller.address, hold: 0 } }
    if (response.destroyed) return caller
    this.#counts.set(key, count + 1)
    response.once('close', () => {
      const left = (this.#counts.get(key) as number) - 1
      if (left > 0) this.#counts.set(key, left)
      else this.#counts.delete(key)
    })
    return caller
  }
}
