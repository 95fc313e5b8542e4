import type { LoggedStep, MethodResult } from '@episodic/protocol'
import type { SessionRecord, SessionStore } from '@episodic/state'
import { isEndUnreported } from '@episodic/state/internal'
import type { WatchRange } from '../host.ts'
import type { CachedSession, SessionCache } from '../sessions/session-cache.ts'
import { pollUntil } from '../sessions/watchers.ts'
import type { TurnSetting } from './turn-of-seat.ts'

export interface WatchSetting extends Pick<TurnSetting, 'clock' | 'stopping'> {
  readonly sessions: Pick<SessionCache, 'use' | 'guardStore'>
  readonly store: SessionStore
}

/** Reads a session's step log after a revision, and waits if there is no entry yet; see `TrainerSessionRef.watch`. */
export async function watchLog(
  cached: CachedSession,
  { after, limit, wait, signal }: WatchRange,
  { sessions, store, clock, stopping }: WatchSetting,
): Promise<MethodResult<'watch'>> {
  const findSteps = async (isLast: boolean): Promise<MethodResult<'watch'> | null> => {
    const record: SessionRecord = await sessions.use(cached, (session) => session.refresh())
    const { id, end, outside } = record
    // If an event ended the episode, one more step is to come, which reports the end.
    const over = end !== null && !isEndUnreported(record)
    const entries = await sessions.guardStore(store.readLog(id, { after, limit }))
    const events = outside?.pending.filter(({ revision }) => revision > after) ?? []
    if (entries.length === 0 && events.length === 0 && !over && !isLast) return null
    return {
      steps: entries.map(({ text }) => JSON.parse(text) as LoggedStep),
      ...(events.length > 0 && { events }),
      end,
    }
  }
  const seen = await pollUntil(cached, findSteps, { clock, wait, signals: [signal, stopping] })
  return seen as MethodResult<'watch'>
}
