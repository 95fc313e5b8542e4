import type { Clock } from '@episodic/state'
import type { CachedSession } from '../sessions/session-cache.ts'
import { watchersOf } from '../sessions/watchers.ts'

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
  cached: CachedSession,
  poll: (isLast: boolean) => Promise<T | null>,
  { clock, wait, signals }: PollOptions,
): Promise<T | null> {
  const deadline = clock.monotonic() + wait * 1_000
  const isOver = () => clock.monotonic() >= deadline || signals.some((signal) => signal?.aborted)
  const [signal] = signals
  for (;;) {
    // Before the call, so that no commit in between is missed.
    const place = watchersOf(cached).join()
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
