import type { SessionRecord } from './session-record.ts'

/** Whether an event has ended the episode and no step has told of it: the next one does, and is the last. */
export function isEndUntold({ end, outside }: Pick<SessionRecord, 'end' | 'outside'>): boolean {
  return end?.kind === 'terminated' && outside?.pending.at(-1)?.end != null
}
