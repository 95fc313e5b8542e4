import type { PairedFigure } from '@episodic/report/compare/comparison'
import { detectableDifference } from '@episodic/report/compare/shown-differences'
import { SIGNIFICANCE } from '@episodic/report/compare/significance'
import { exactSum } from '@episodic/report/fold/exact-sum'
import { clusteredMean } from '@episodic/report/fold/statistics'
import { signFlipTest } from './sign-flip-test.ts'
import { signTest } from './sign-test.ts'

export const SHARES = [-1, 1] as const
/** Differences below this share of the values are rounding errors. */
const ROUNDING = 1e-13

/**
 * Compares a figure by task: the mean of the differences, with Student's t over the tasks. The rollouts of a task are
 * averaged before, so this equals clustering by task.
 *
 * Student, "The probable error of a mean" (1908); for paired evaluations: Miller, "Adding Error Bars to Evals" (2024,
 * arXiv:2411.00640), section 4.
 *
 * The sign-flip test decides the effect: it is exact for few tasks, where Student's t relies on a normal distribution.
 * So an interval can exclude 0 though no effect is shown, as of 5 tasks that all differ in one direction: their p-value
 * is 0.0625.
 *
 * @param pairs - the figure in both runs, for each task.
 * @param bounds - the range of a difference, to which the interval is clamped.
 * @returns `null` if there is no task.
 */
export function pairFigure(
  pairs: readonly (readonly [a: number, b: number])[],
  bounds: readonly [number, number] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY],
): PairedFigure | null {
  const differences = pairs.map(differenceOf)
  const estimate = clusteredMean(differences, [...pairs.keys()])
  if (!estimate) return null
  const higher = differences.filter((difference) => difference > 0).length
  const lower = differences.filter((difference) => difference < 0).length
  const { p, smallest, exact } = signFlipTest(differences)
  const [least, most] = bounds
  const difference = {
    ...estimate,
    low: estimate.low === null ? null : Math.max(least, estimate.low),
    high: estimate.high === null ? null : Math.min(most, estimate.high),
  }
  return {
    a: meanOf(pairs.map(([a]) => a)),
    b: meanOf(pairs.map(([, b]) => b)),
    difference,
    higher,
    lower,
    equal: pairs.length - higher - lower,
    p,
    exact,
    smallestP: smallest,
    signP: signTest(higher, lower),
    detectable: detectableDifference(estimate),
    effect: higher + lower === 0 ? 'same' : p >= SIGNIFICANCE ? 'unclear' : estimate.mean > 0 ? 'higher' : 'lower',
  }
}

export function meanOf(values: readonly number[]): number {
  return exactSum(values) / values.length
}

/** Means over different numbers of rollouts differ by rounding, which is no difference. */
function differenceOf([a, b]: readonly [number, number]): number {
  const difference = b - a
  return Math.abs(difference) <= ROUNDING * Math.max(Math.abs(a), Math.abs(b)) ? 0 : difference
}
