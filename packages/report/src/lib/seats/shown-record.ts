import type { EpisodeRecord, MatchRecord, RecordedStep } from '@episodic/protocol'
import { seatRecordOf } from './seat-record.ts'

/** A step as a page shows it: of any seat, with the reward of the seat in focus. */
export interface ShownStep extends RecordedStep {
  readonly seat?: string
}

export type ShownRecord = Omit<EpisodeRecord, 'steps'> & { readonly steps: readonly ShownStep[] }

/** Returns a match with the outcome and the returns of one seat, and with the steps of all seats, in their order. */
export function toShownRecord(record: MatchRecord, focus: string): ShownRecord {
  const steps = record.steps.map(({ rewards, seats: _, ...step }) => ({
    ...step,
    reward: rewards[focus] ?? { total: 0, terms: {}, shaping: 0 },
  }))
  return { ...seatRecordOf(record, focus), steps }
}
