import { returnsOf } from '@episodic/env'
import type { RehearsedStep } from '@episodic/mcp-server'
import { type EpisodeRecord, isMatchRecord, type MatchRecord, type SealedRecord } from '@episodic/protocol'
import { mapValues } from '@episodic/run/base/map-values'
import type { RunConfiguration } from '@episodic/run/folder/plan/configuration'
import { returnsOfSeat, weigh } from '@episodic/run/folder/record/weigh-terms'
import { type Difference, findDifference } from './difference.ts'

export type AnyStep = SealedRecord['steps'][number]

export type Scoring = Pick<RunConfiguration, 'weights' | 'shaping' | 'discount'>

export function recordedTerms(step: AnyStep): object {
  if ('reward' in step) return step.reward.terms
  return mapValues(step.rewards, ({ terms }) => terms)
}

export function playedTerms(step: AnyStep, { terms, seats }: RehearsedStep): object {
  return 'seat' in step ? { [step.seat]: terms, ...seats?.terms } : terms
}

/**
 * Compares the rewards of a step: Σ weight · term, and for the only seat F = γΦ(s′) − Φ(s) with Φ = 0 at a terminated
 * end if the run shaped. Adds in the same order as `withWeights` and `withShaping`, so that results are equal to the
 * last bit. Φ(s) is that of the line, which a replay has compared before.
 */
export function compareScore(
  record: SealedRecord,
  at: number,
  { terms, potential, end, seats }: RehearsedStep,
  { weights, shaping: shaped, discount }: Scoring,
): Difference | null {
  if (isMatchRecord(record)) {
    const { seat, rewards } = record.steps[at] as MatchRecord['steps'][number]
    const computed = mapValues({ [seat]: terms, ...seats?.terms }, (own) => weigh(own, weights))
    return findDifference(rewards, computed, 'rewards')
  }
  const { start, steps } = record
  const { reward } = steps[at] as EpisodeRecord['steps'][number]
  const before = (at > 0 ? steps[at - 1] : start)?.potential ?? 0
  const after = (end?.kind === 'terminated' ? 0 : potential) ?? 0
  const shaping = shaped ? discount * after - before : 0
  const { total } = weigh(terms, weights)
  return (
    findDifference(reward.shaping, shaping, 'reward.shaping') ??
    findDifference(reward.total, total + shaping, 'reward.total')
  )
}

/**
 * Compares the returns with those that follow from the recorded rewards: none in a failed episode. Without a scoring
 * the discount is unknown, and the recorded discounted return is kept.
 */
export function compareReturns(record: SealedRecord, scoring: Scoring | null): Difference | null {
  const { discount = 1 } = scoring ?? {}
  const earned = (recorded: EpisodeRecord['returns'], computed: NonNullable<EpisodeRecord['returns']>) => {
    if (record.outcome.kind === 'failed') return null
    return scoring ? computed : { ...computed, discounted: recorded?.discounted ?? computed.discounted }
  }
  if (!isMatchRecord(record))
    return findDifference(record.returns, earned(record.returns, returnsOf(record.steps, discount)), 'returns')
  return findDifference(
    mapValues(record.seats, ({ returns }) => returns),
    mapValues(record.seats, ({ returns }, name) => earned(returns, returnsOfSeat(record, name, discount))),
    'returns',
  )
}
