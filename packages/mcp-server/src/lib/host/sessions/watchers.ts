import { WireError } from '@episodic/protocol'
import type { Clock } from '@episodic/state'

const LISTENERS = 256

export class Watchers {
  readonly #waiting = new Set<() => void>()
  readonly #listeners = new Set<() => void>()

  wake(): void {
    for (const wake of this.#waiting) wake()
    for (const hear of this.#listeners) hear()
  }

  get hasListeners(): boolean {
    return this.#listeners.size > 0
  }

  /**
   * Calls `listener` at each `wake`, until the returned function is called. Throws `capacity` if there are too many.
   */
  listen(listener: () => void): () => void {
    if (this.#listeners.size >= LISTENERS)
      throw new WireError('capacity', `There are ${LISTENERS} who listen to this session already. Try again later.`)
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
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

/** Returns the watchers of a session, which it has from the first one on: most sessions have none. */
export function watchersOf(watched: { watchers: Watchers | null }): Watchers {
  watched.watchers ??= new Watchers()
  return watched.watchers
}

/** Milliseconds between two polls: commits of other processes on the same store wake nobody here. */
const INTERVAL = 1_000

export interface PollOptions {
  readonly clock: Clock
  /** Seconds after which the last poll is made. */
  readonly wait: number
  /** Each of them ends the wait with a last poll, as soon as it is aborted or the watchers are woken. */
  readonly signals: readonly (AbortSignal | undefined)[]
}

/**
 * Calls `poll` at once, and again after each commit of a session, until it finds something or the wait is over.
 * Resolves with what was found; with `null` if the last call, for which `isLast` is true, found nothing.
 */
export async function pollUntil<T>(
  watched: { watchers: Watchers | null },
  poll: (isLast: boolean) => Promise<T | null>,
  { clock, wait, signals }: PollOptions,
): Promise<T | null> {
  const deadline = clock.monotonic() + wait * 1_000
  const isOver = () => clock.monotonic() >= deadline || signals.some((signal) => signal?.aborted)
  const [signal] = signals
  for (;;) {
    // Before the call, so that no commit in between is missed.
    const place = watchersOf(watched).join()
    try {
      const isLast = isOver()
      const found = await poll(isLast)
      if (found !== null || isLast) return found
      if (!isOver()) await place.until(clock, Math.min(deadline - clock.monotonic(), INTERVAL), signal)
    } finally {
      place.leave()
    }
  }
}
