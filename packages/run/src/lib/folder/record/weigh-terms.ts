import { returnsOf } from '@episodic/env'
import type { MatchRecord, Reward } from '@episodic/protocol'
import { seatRecordOf } from '@episodic/report/seats/seat-record'

/** Weighs raw terms, without shaping: a term without a weight has weight 1. */
export function weigh(terms: Reward['terms'], weights: { readonly [term: string]: number }): Reward {
  let total = 0
  for (const name in terms) total += (weights[name] ?? 1) * (terms[name] as number)
  return { total, terms, shaping: 0 }
}

/**
 * Returns what a seat earned in a finished match, with the discount by its own steps. What a seat earned that never
 * acted is in no step of its own.
 */
export function returnsOfSeat(record: MatchRecord, seat: string, discount: number): ReturnType<typeof returnsOf> {
  const { steps } = seatRecordOf(record, seat)
  if (steps.length > 0) return returnsOf(steps, discount)
  const rewards = record.steps.flatMap(({ rewards }) => rewards[seat] ?? [])
  return returnsOf(
    rewards.map((reward) => ({ reward })),
    1,
  )
}
