import { returnsOf } from '@episodic/env'
import type { EpisodeEnd, EpisodeRecord, Reward } from '@episodic/protocol'
import type { RunConfiguration } from '../../run-folder/plan/configuration.ts'

/** The parts of a run's configuration that decide rewards and returns. */
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

/** The result of a step from the environment. */
interface Given {
  readonly terms: Reward['terms']
  readonly potential: number | null
  readonly end: EpisodeEnd | null
}

/**
 * Scores the steps of one episode, called with each in turn: Σ weight · term, and F = γΦ(s′) − Φ(s) with Φ = 0 at a
 * terminated end if the run shaped. Adds in the same order as `withWeights` and `withShaping`, so that results are
 * equal to the last bit.
 *
 * @param before - Φ at the start.
 */
export function createScorer(
  { weights, shaping: shaped, discount }: Scoring,
  before: number | null,
): (given: Given) => Pick<Reward, 'total' | 'shaping'> {
  return ({ terms, potential, end }) => {
    let weighed = 0
    for (const name in terms) weighed += (weights[name] ?? 1) * (terms[name] as number)
    const after = end?.kind === 'terminated' ? 0 : potential
    const shaping = shaped ? discount * (after ?? 0) - (before ?? 0) : 0
    before = after
    return { total: weighed + shaping, shaping }
  }
}

/**
 * Returns the returns of an episode, computed from its rewards; `null` for a failed one. Without a scoring the discount
 * is unknown, and the recorded discounted return is kept.
 */
export function earnedBy(
  { steps, outcome, returns }: EpisodeRecord,
  scoring: Scoring | null,
): NonNullable<EpisodeRecord['returns']> | null {
  if (outcome.kind === 'failed') return null
  const earned = returnsOf(steps, scoring?.discount ?? 1)
  return scoring ? earned : { ...earned, discounted: returns?.discounted ?? earned.discounted }
}
