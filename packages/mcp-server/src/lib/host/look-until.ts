import type { Clock } from '@episodic/state'
import type { Watchers } from './watchers.ts'

/** Milliseconds between two looks: commits of other processes on the same store wake nobody here. */
const INTERVAL = 1_000

export interface LookSetting {
  readonly clock: Clock
  /** Seconds after which the last look is taken. */
  readonly wait: number
  /** Each of them ends the wait with a last look, as soon as it is aborted or the watchers are woken. */
  readonly signals: readonly (AbortSignal | undefined)[]
}

/**
 * Looks at a session, and again after each of its commits, until `look` finds what it looks for or the wait is over.
 * Resolves with what was found; with `null` if the last look, for which `isLast` is true, found nothing.
 */
export async function lookUntil<T>(
  watchers: Watchers,
  look: (isLast: boolean) => Promise<T | null>,
  { clock, wait, signals }: LookSetting,
): Promise<T | null> {
  const deadline = clock.monotonic() + wait * 1_000
  const isOver = () => clock.monotonic() >= deadline || signals.some((signal) => signal?.aborted)
  const [signal] = signals
  for (;;) {
    // Before the look, so that no commit in between is missed.
    const place = watchers.join()
    try {
      const isLast = isOver()
      const found = await look(isLast)
      if (found !== null || isLast) return found
      if (!isOver()) await place.until(clock, Math.min(deadline - clock.monotonic(), INTERVAL), signal)
    } finally {
      place.leave()
    }
  }
}
