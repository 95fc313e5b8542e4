import type { SessionRecord } from './session-record.ts'

/** Returns whether an event has ended the episode and no step has reported that yet: the next step does, and is the last. */
export function isEndUnreported({ end, outside }: Pick<SessionRecord, 'end' | 'outside'>): boolean {
  return end?.kind === 'terminated' && outside?.pending.at(-1)?.end != null
}
