import { createRng } from '@episodic/protocol'
import { quantile } from '../fold/statistics.ts'

/** How often tasks are drawn. */
const DRAWS = 2_000

/** The ends of a 95 % interval; `null` if it cannot be computed. */
export interface DrawnInterval {
  readonly low: number | null
  readonly high: number | null
}

/**
 * The 95 % interval of a statistic, by drawing as many tasks as there are, with replacement, 2,000 times, and taking the
 * 2.5 % and 97.5 % quantiles. The draws are the same for the same number of tasks.
 *
 * Efron & Tibshirani, "An Introduction to the Bootstrap" (1993), the percentile interval; tasks are drawn whole, since the
 * episodes of one task are alike.
 *
 * @param tasks - the sums of each task from which the statistic is computed.
 * @param statistic - of the sums of all drawn tasks; `null` where it is not defined. Such draws are left out, and if they are
 *   more than half, there is no interval.
 */
export function drawnInterval(
  tasks: readonly ArrayLike<number>[],
  statistic: (sums: Float64Array) => number | null,
): DrawnInterval {
  const width = tasks[0]?.length ?? 0
  if (tasks.length < 2) return { low: null, high: null }
  const rng = createRng('draws of tasks')
  const values: number[] = []
  for (let draw = 0; draw < DRAWS; draw++) {
    const sums = new Float64Array(width)
    for (let i = 0; i < tasks.length; i++) addTo(sums, tasks[rng.int(0, tasks.length - 1)] as ArrayLike<number>)
    const value = statistic(sums)
    if (value !== null) values.push(value)
  }
  if (values.length <= DRAWS / 2) return { low: null, high: null }
  const sorted = Float64Array.from(values).sort()
  return { low: quantile(sorted, 0.025), high: quantile(sorted, 0.975) }
}

/** Adds numbers to sums, one by one. */
export function addTo(sums: Float64Array, numbers: ArrayLike<number>): void {
  for (let i = 0; i < sums.length; i++) sums[i] = (sums[i] as number) + (numbers[i] as number)
}
