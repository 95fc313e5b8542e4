import { z } from 'zod'
import { detectableDifference } from '../compare/shown-differences.ts'
import { exactSum } from '../fold/exact-sum.ts'

/** How much the success of a run varies if the same player plays the same tasks again. */
export const noiseSchema = z.object({
  /** Tasks with at least two finished episodes, and how many of them were solved in some and not in others. */
  repeated: z.int(),
  flipped: z.int(),
  /** The smallest difference to another run of this size that is found in 80 % of such pairs at 5 %; `null`: none. */
  floor: z.number().nullable(),
})
export type Noise = z.infer<typeof noiseSchema>

/** How often a task was played to an end, and solved. */
export interface Attempts {
  readonly finished: number
  readonly successes: number
}

/**
 * Estimates the noise of a success rate from the episodes of each task. If two runs solve task t with the same chance
 * p_t, the difference of their rates has the variance 2 Σ n_t p_t (1 − p_t) / N², for n_t episodes of N. Of two or more
 * episodes c(n − c) / (n(n − 1)) estimates p_t (1 − p_t) without bias, and of tasks with one their mean stands for it.
 *
 * If no task has two episodes, all that is known is that the mean of p_t (1 − p_t) is at most p(1 − p) for the rate p
 * (Jensen's inequality), so the floor is the largest that it can be. It is unknown if nothing varied.
 *
 * E. Miller, "Adding Error Bars to Evals" (2024, arXiv:2411.00640), sections 3.2 and 5, for the two parts of the
 * variance; `detectableDifference` for what is shown.
 */
export function estimateNoise(tasks: readonly Attempts[]): Noise | null {
  const played = tasks.filter(({ finished }) => finished > 0)
  if (played.length < 2) return null
  const again = played.filter(({ finished }) => finished > 1)
  const spreads = again.map(
    ({ finished, successes }) => (successes * (finished - successes)) / finished / (finished - 1),
  )
  const count = exactSum(played.map(({ finished }) => finished))
  const rate = exactSum(played.map(({ successes }) => successes)) / count
  const usual = again.length > 0 ? exactSum(spreads) / again.length : rate * (1 - rate)
  const once = (played.length - again.length) * usual
  const varying = exactSum(again.map(({ finished }, i) => finished * (spreads[i] as number))) + once
  const standardError = Math.sqrt(2 * varying) / count
  return {
    repeated: again.length,
    flipped: again.filter(({ finished, successes }) => successes > 0 && successes < finished).length,
    floor: detectableDifference({ standardError, clusters: played.length }),
  }
}
