import { WireError } from '@episodic/protocol'
import type { Clock } from '@episodic/state'

/** How many may listen to one session. */
const LISTENERS = 256

/** Those who wait for the next commit of a session, and those who hear of each. */
export class Watchers {
  readonly #waiting = new Set<() => void>()
  /** None for nearly every session, of which there are many. */
  #listeners: Set<() => void> | null = null

  /** Wakes all who wait. */
  wake(): void {
    for (const wake of this.#waiting) wake()
    if (this.#listeners) for (const hear of this.#listeners) hear()
  }

  /** Whether anybody listens. */
  get heard(): boolean {
    return this.#listeners !== null && this.#listeners.size > 0
  }

  /** Calls `listener` at each `wake`, until the function that it returns is called. Throws `capacity` where too many listen. */
  listen(listener: () => void): () => void {
    this.#listeners ??= new Set()
    const listeners = this.#listeners
    if (listeners.size >= LISTENERS)
      throw new WireError('capacity', `There are ${LISTENERS} who listen to this session already. Try again later.`)
    listeners.add(listener)
    return () => listeners.delete(listener)
  }

  /**
   * Takes a place among those who wait, before looking whether there is anything to wait for, so that a commit in
   * between is not missed. `until` resolves at the next `wake`, after `milliseconds`, or when `signal` is aborted;
   * `leave` gives the place up.
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
