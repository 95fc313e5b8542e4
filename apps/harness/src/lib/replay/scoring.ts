import { returnsOf } from '@episodic/env'
import type { EpisodeEnd, EpisodeRecord, Reward } from '@episodic/protocol'
import type { RunConfiguration } from '../run/configuration.ts'

/** What of a run's configuration makes rewards and returns of what a world gave. */
export type Scoring = Pick<RunConfiguration, 'weights' | 'shaping' | 'discount'>

/** What nobody can know who has only the lines: none says how its run weighed, shaped and discounted, or that an agent played, which may leave. */
export const UNKNOWN_WITHOUT_RUN = [
  'reward.total',
  'reward.shaping',
  'returns.discounted',
  'end closed',
  'undeclared arguments',
] as const

/** What nobody can know who has neither the generator nor the file of tasks: the line is all there is. */
export const UNKNOWN_WITHOUT_PLAN = ['task', 'params', 'seed', 'attempt', 'policy', 'step limit'] as const

/** What a world gave in a step. */
interface Given {
  readonly terms: Reward['terms']
  readonly potential: number | null
  readonly end: EpisodeEnd | null
}

/**
 * Scores the steps of one episode, called with each in turn: Σ weight · term, and F = γΦ(s′) − Φ(s) with Φ = 0 at a
 * terminated end where the run shaped. In the order in which `withWeights` and `withShaping` add, so that the same
 * numbers come out to the last bit.
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
 * What an episode earned by the rewards of its steps; `null` for a failed one. Without a scoring the discount is not
 * known, and the discounted return is left as it was recorded.
 */
export function earnedBy(
  { steps, outcome, returns }: EpisodeRecord,
  scoring: Scoring | null,
): NonNullable<EpisodeRecord['returns']> | null {
  if (outcome.kind === 'failed') return null
  const earned = returnsOf(steps, scoring?.discount ?? 1)
  return scoring ? earned : { ...earned, discounted: returns?.discounted ?? earned.discounted }
}
