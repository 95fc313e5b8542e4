import type { LoggedStep, MethodResult } from '@episodic/protocol'
import { type Clock, isEndUnreported, type SessionRecord, type SessionStore } from '@episodic/state'
import type { WatchRange } from './host.ts'
import type { CachedSession, SessionCache } from './session-cache.ts'

/** Milliseconds between two reads of the store: commits of other processes on the same store wake no watcher here. */
const WATCH_INTERVAL = 1_000

export interface WatchSetting {
  readonly sessions: Pick<SessionCache, 'use' | 'guardStore'>
  readonly store: SessionStore
  readonly clock: Clock
  /** Ends all waits once it is aborted and the watchers are woken. */
  readonly stopping: AbortSignal
}

/**
 * Reads the step log of a session after a revision, and waits if there is no entry yet; see `TrainerSessionRef.watch`.
 */
export async function watchLog(
  cached: CachedSession,
  { after, limit, wait, signal }: WatchRange,
  { sessions, store, clock, stopping }: WatchSetting,
): Promise<MethodResult<'watch'>> {
  const deadline = clock.monotonic() + wait * 1_000
  for (;;) {
    const place = cached.watchers.join()
    try {
      const record: SessionRecord = await sessions.use(cached, (session) => session.refresh())
      const { id, end, outside } = record
      // If an event ended the episode, one more step is to come, which reports the end.
      const over = end !== null && !isEndUnreported(record)
      const entries = await sessions.guardStore(store.readLog(id, { after, limit }))
      const left = deadline - clock.monotonic()
      const events = outside?.pending.filter(({ revision }) => revision > after) ?? []
      if (entries.length > 0 || events.length > 0 || over || left <= 0 || signal?.aborted || stopping.aborted)
        return {
          steps: entries.map(({ text }) => JSON.parse(text) as LoggedStep),
          ...(events.length > 0 && { events }),
          end,
        }
      await place.until(clock, Math.min(left, WATCH_INTERVAL), signal)
    } finally {
      place.leave()
    }
  }
}
