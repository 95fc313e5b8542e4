import { WireError } from '@episodic/protocol'
import type { Clock } from '@episodic/state'
import { nextTurn } from '../yield-to-event-loop.ts'
import type { CachedSession, SessionCache, SessionCacheOptions } from './session-cache.ts'

export interface ExpiryOptions extends Pick<SessionCacheOptions, 'store' | 'clock' | 'idleSeconds'> {
  readonly sessions: SessionCache
  readonly writer: LastSteps
  readonly judges: boolean
  readonly onRemoved: (id: string) => void
}

interface LastSteps {
  isLeft(cached: CachedSession): boolean
  judgeLeft(cached: CachedSession): Promise<unknown>
}

/** The last observed `touchedAt` of a session, and since when this process has seen it unchanged. */
interface LastSeen {
  readonly touchedAt: number
  /** Monotonic milliseconds. */
  readonly since: number
}

const PAGE = 1_000
/** How long a slice of a sweep should take at most, in milliseconds. */
const SLICE_MILLISECONDS = 5
const SMALLEST_SLICE = 1
const LARGEST_SLICE = 128
/** Errors of a last step after which the session may still be played: by its player, another process, or later. */
const PLAYED_ON = ['seq-conflict', 'fenced', 'store-unavailable'] as const

/**
 * Removes sessions that have been idle too long.
 *
 * Of a world that judges what a player leaves, one that was played and has not ended gets its last step first. It is
 * then kept for as long again, so that its reward can be read.
 *
 * A cached session is timed by this process's monotonic clock. For any other, the store has only the wall-clock time of
 * its last use, and that clock may have been set since. Such a session is removed after this process has seen it
 * unchanged for the idle time, so a restart, a clock that jumps or another process's clock ends no session early.
 */
export function createExpiry(options: ExpiryOptions) {
  let sightings = new Map<string, LastSeen>()
  let present: Promise<void> | null = null
  return {
    /**
     * Removes expired sessions and resolves with their number. A call during another sweep waits for that one
     * first.
     */
    sweep(): Promise<number> {
      const swept = present ? present.then(() => sweepOnce()) : sweepOnce()
      const over = () => {
        if (present === sweeping) present = null
      }
      const sweeping = swept.then(over, over)
      present = sweeping
      return swept
    },
  }

  async function sweepOnce(): Promise<number> {
    const { sessions, store, clock, idleSeconds } = options
    const before = clock.now() - idleSeconds * 1_000
    for (const cached of sessions.idle()) {
      const { session, touched } = cached
      const { id, touchedAt } = session.record
      if (takeLastStep(cached)) continue
      sessions.letGo(cached)
      sightings.set(id, { touchedAt, since: touched })
    }
    const earlier = sightings
    sightings = new Map()
    const kept = new Set<string>()
    let swept = 0
    for (;;) {
      await nextTurn()
      const limit = kept.size + PAGE
      const ids = await sessions.guardStore(store.idle({ before, limit }))
      await inSlices(
        ids.filter((id) => !kept.has(id)),
        clock,
        async (id) => {
          if (await settle(id, earlier.get(id))) swept += 1
          else kept.add(id)
        },
      )
      if (ids.length < limit) return swept
    }
  }

  /** Removes a session if it has been unchanged for long enough. Resolves with whether it was removed. */
  async function settle(id: string, sighting: LastSeen | undefined): Promise<boolean> {
    const { sessions, store, clock, idleSeconds, judges } = options
    if (sessions.holds(id)) return false
    if (sighting && clock.monotonic() - sighting.since <= idleSeconds * 1_000) {
      sightings.set(id, sighting)
      return false
    }
    const stored = await sessions.guardStore(store.read(id))
    // While the store was read, a call here may have cached the session.
    if (!stored || sessions.holds(id)) return false
    const { touchedAt } = stored
    if (sighting?.touchedAt !== touchedAt) {
      sightings.set(id, { touchedAt, since: clock.monotonic() })
      return false
    }
    if (judges) {
      // A session that is not served here in its version cannot be judged.
      const cached = await Promise.resolve(sessions.find(id)).catch(() => null)
      if (cached && takeLastStep(cached)) return false
    }
    return remove(id)
  }

  async function remove(id: string): Promise<boolean> {
    const { sessions, onRemoved } = options
    const removed = await sessions.remove(id)
    if (removed) onRemoved(id)
    return removed
  }

  /**
   * Begins to take the last step of an idle session, in which its world judges what was left, and returns whether it
   * does. The step is a use of the session. Where the world fails, which it reports, the session is removed.
   */
  function takeLastStep(cached: CachedSession): boolean {
    const { writer } = options
    if (!writer.isLeft(cached)) return false
    const judging = async () => {
      try {
        await writer.judgeLeft(cached)
      } catch (error) {
        if (!PLAYED_ON.some((code) => WireError.is(error, code))) await remove(cached.session.record.id)
      }
    }
    // What the store refuses now, the next sweep finds again.
    void judging().catch(() => {})
    return true
  }
}

async function inSlices<T>(items: readonly T[], clock: Clock, work: (item: T) => Promise<void>): Promise<void> {
  let size = SMALLEST_SLICE
  for (let start = 0; start < items.length; ) {
    const began = clock.monotonic()
    await Promise.all(items.slice(start, start + size).map(work))
    start += size
    const slow = clock.monotonic() - began > SLICE_MILLISECONDS
    size = slow ? Math.max(SMALLEST_SLICE, size >> 1) : Math.min(LARGEST_SLICE, size * 2)
    await nextTurn()
  }
}

/** Repeats `work`, each time so long after the last run. The returned function stops it after the present run. */
export function repeat(clock: Clock, milliseconds: number, work: () => Promise<unknown>): () => void {
  let stopped = false
  let callOff = () => {}
  const next = () => {
    if (!stopped) callOff = clock.after(milliseconds, () => void work().then(next, next))
  }
  next()
  return () => {
    stopped = true
    callOff()
  }
}
