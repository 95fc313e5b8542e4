import { clusteredMean, type Estimate } from '../report/fold/statistics.ts'
import { signTest } from './sign-test.ts'

/** One figure of two runs, over the tasks that both have it for. */
export interface PairedFigure {
  /** Means over tasks. */
  readonly a: number
  readonly b: number
  /** B − A, over tasks. */
  readonly difference: Estimate
  /** Tasks in which B is higher, lower, and equal. */
  readonly higher: number
  readonly lower: number
  readonly equal: number
  /** Of the exact sign test over tasks, two-sided. */
  readonly p: number
  /** What may be said of B: `unclear` where neither direction is shown. */
  readonly effect: Effect
}
export type Effect = 'higher' | 'lower' | 'same' | 'unclear'

/** Below this, chance alone is not believed: the other side of a 95 % interval. */
const SIGNIFICANCE = 0.05

/**
 * Compares a figure task by task: the mean of the differences, with Student's t over as many of them as there are tasks.
 * The interval is what clustering by task comes to, as rollouts of one task are averaged before.
 *
 * Student, "The probable error of a mean" (1908); why evaluations are to be paired: Miller, "Adding Error Bars to Evals"
 * (2024, arXiv:2411.00640), section 4.
 *
 * The effect is shown by the interval where there is one, and by the sign test where every task differs by the same.
 *
 * @param pairs - for each task, the figure in either run.
 * @param bounds - what a difference can be; the interval is cut to it.
 * @returns `null` when there is no task.
 */
export function pairFigure(
  pairs: readonly (readonly [a: number, b: number])[],
  bounds: readonly [number, number] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY],
): PairedFigure | null {
  const differences = pairs.map(([a, b]) => b - a)
  const tasks = [...pairs.keys()]
  const estimate = clusteredMean(differences, tasks)
  const [a, b] = [0, 1].map((side) =>
    clusteredMean(
      pairs.map((pair) => pair[side] as number),
      tasks,
    ),
  )
  if (!estimate || !a || !b) return null
  const higher = differences.filter((difference) => difference > 0).length
  const lower = differences.filter((difference) => difference < 0).length
  const p = signTest(higher, lower)
  const [least, most] = bounds
  const difference = {
    ...estimate,
    low: estimate.low === null ? null : Math.max(least, estimate.low),
    high: estimate.high === null ? null : Math.min(most, estimate.high),
  }
  const equal = pairs.length - higher - lower
  return { a: a.mean, b: b.mean, difference, higher, lower, equal, p, effect: effectOf(difference, p, equal) }
}

function effectOf({ mean, low, high, count }: Estimate, p: number, equal: number): Effect {
  if (equal === count) return 'same'
  if (low === null || high === null) return p < SIGNIFICANCE ? directionOf(mean) : 'unclear'
  return low > 0 || high < 0 ? directionOf(mean) : 'unclear'
}

function directionOf(mean: number): Effect {
  return mean > 0 ? 'higher' : 'lower'
}
