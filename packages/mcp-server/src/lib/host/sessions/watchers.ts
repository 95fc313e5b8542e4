import { WireError } from '@episodic/protocol'
import type { Clock } from '@episodic/state'

/** Listeners that one session may have. */
const LISTENERS = 256

/** Callers that wait for the next commit of a session, and listeners that are called at each commit. */
export class Watchers {
  readonly #waiting = new Set<() => void>()
  /** Created on first use: most sessions have no listener. */
  #listeners: Set<() => void> | null = null

  /** Wakes all waiting callers, and calls the listeners. */
  wake(): void {
    for (const wake of this.#waiting) wake()
    if (this.#listeners) for (const hear of this.#listeners) hear()
  }

  /** Whether there is a listener. */
  get hasListeners(): boolean {
    return this.#listeners !== null && this.#listeners.size > 0
  }

  /**
   * Calls `listener` at each `wake`, until the returned function is called. Throws `capacity` if there are too many.
   */
  listen(listener: () => void): () => void {
    this.#listeners ??= new Set()
    const listeners = this.#listeners
    if (listeners.size >= LISTENERS)
      throw new WireError('capacity', `There are ${LISTENERS} who listen to this session already. Try again later.`)
    listeners.add(listener)
    return () => listeners.delete(listener)
  }

  /**
   * Registers a waiting caller. Call it before reading the state, so that no commit in between is missed. `until`
   * resolves at the next `wake`, after `milliseconds`, or when `signal` is aborted; `leave` unregisters the caller.
   */
  join(): { until(clock: Clock, milliseconds: number, signal: AbortSignal | undefined): Promise<void>; leave(): void } {
    const { promise, resolve } = Promise.withResolvers<void>()
    const wake = () => resolve()
    this.#waiting.add(wake)
    return {
      async until(clock, milliseconds, signal) {
        const callOff = clock.after(milliseconds, wake)
        signal?.addEventListener('abort', wake, { once: true })
        await promise
        signal?.removeEventListener('abort', wake)
        callOff()
      },
      leave: () => this.#waiting.delete(wake),
    }
  }
}
