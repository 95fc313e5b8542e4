import type { AppliedEvent } from './outside-event.ts'

/** Returns what an event says to a seat: to all of them, and to this one alone. */
export function eventTexts({ said, sent }: Pick<AppliedEvent, 'said' | 'sent'>, seat: string): readonly string[] {
  return [...(said === null ? [] : [said]), ...(sent?.[seat] ?? [])]
}
