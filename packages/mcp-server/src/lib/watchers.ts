import type { Clock } from '@episodic/state'

/** Those who wait for the next commit of a session. */
export class Watchers {
  readonly #waiting = new Set<() => void>()

  /** Wakes all who wait. */
  wake(): void {
    for (const wake of this.#waiting) wake()
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
