import { returnsOf } from '@episodic/env'
import type { RehearsedStep } from '@episodic/mcp-server'
import { type EpisodeRecord, isMatchRecord, type SealedRecord } from '@episodic/protocol'
import type { RunConfiguration } from '@episodic/run/folder/plan/configuration'
import { returnsOfSeat, weigh } from '@episodic/run/folder/record/weigh-terms'
import { type Difference, findDifference } from './difference.ts'

/** A step of one seat, or of one of several. */
export type AnyStep = SealedRecord['steps'][number]

export type Scoring = Pick<RunConfiguration, 'weights' | 'shaping' | 'discount'>

/** The fields that lines alone cannot verify: they do not have the run's scoring, nor whether an agent played. */
export const UNKNOWN_WITHOUT_RUN = [
  'reward.total',
  'reward.shaping',
  'returns.discounted',
  'end closed',
  'undeclared arguments',
] as const

/** The fields that cannot be verified without the generator or the file of tasks. */
export const UNKNOWN_WITHOUT_PLAN = ['task', 'params', 'seed', 'attempt', 'policy', 'step limit'] as const

export function recordedTerms(step: AnyStep): object {
  if ('reward' in step) return step.reward.terms
  return Object.fromEntries(Object.entries(step.rewards).map(([seat, { terms }]) => [seat, terms]))
}

export function playedTerms(step: AnyStep, { terms, seats }: RehearsedStep): object {
  return 'seat' in step ? { [step.seat]: terms, ...seats?.terms } : terms
}

/**
 * Compares the rewards of the steps of an episode, called with each in turn: Σ weight · term, and for the only seat F =
 * γΦ(s′) − Φ(s) with Φ = 0 at a terminated end if the run shaped. Adds in the same order as `withWeights` and
 * `withShaping`, so that results are equal to the last bit.
 *
 * @param before - Φ at the start.
 */
export function createScoreComparison(
  { weights, shaping: shaped, discount }: Scoring,
  before: number | null,
): (recorded: AnyStep, played: RehearsedStep) => Difference | null {
  return (recorded, played) => {
    if ('rewards' in recorded) {
      const terms = Object.entries({ [recorded.seat]: played.terms, ...played.seats?.terms })
      const rewards = Object.fromEntries(terms.map(([seat, own]) => [seat, weigh(own, weights)]))
      return findDifference(recorded.rewards, rewards, 'rewards')
    }
    const { terms, potential, end } = played
    const { total } = weigh(terms, weights)
    const after = end?.kind === 'terminated' ? 0 : potential
    const shaping = shaped ? discount * (after ?? 0) - (before ?? 0) : 0
    before = after
    const { reward } = recorded
    return (
      findDifference(reward.shaping, shaping, 'reward.shaping') ??
      findDifference(reward.total, total + shaping, 'reward.total')
    )
  }
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
  for (const [name, { returns }] of Object.entries(record.seats)) {
    const difference = findDifference(
      returns,
      earned(returns, returnsOfSeat(record, name, discount)),
      `returns.${name}`,
    )
    if (difference) return difference
  }
  return null
}
