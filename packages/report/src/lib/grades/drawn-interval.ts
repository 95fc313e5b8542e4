import { createRng } from '@episodic/protocol'
import { quantile } from '../fold/statistics.ts'

const DRAWS = 2_000
/** More tasks are drawn in so many blocks. The width of an interval is then uncertain by 3 %. */
const MOST_BLOCKS = 500
/** Ends of an interval that are nearer to each other are equal but for rounding. */
const ROUNDING = 1e-12

/** The ends of a 95 % interval; `null` if there is none, or all draws have one value, which shows no certainty. */
export interface DrawnInterval {
  readonly low: number | null
  readonly high: number | null
}

/**
 * The 95 % intervals of statistics, by drawing as many tasks as there are, with replacement, 2,000 times, and taking
 * the 2.5 % and 97.5 % quantiles. The draws are the same for the same number of tasks.
 *
 * Efron & Tibshirani, "An Introduction to the Bootstrap" (1993), the percentile interval; tasks are drawn whole, since
 * the episodes of one task are alike. More than 500 tasks are drawn in 500 blocks of tasks, which take turns.
 *
 * Where every draw has the same value, as of graders who agree on all tasks, draws cannot say how far the value may be
 * off: there is no interval.
 *
 * @param tasks - the sums of each task from which the statistics are computed, in any order that does not depend on
 *   them.
 * @param statistics - of the sums of all drawn tasks; `null` where one is not defined. Such draws are left out, and if
 *   they are more than half, there is no interval.
 */
export function drawnIntervals(
  tasks: readonly ArrayLike<number>[],
  statistics: readonly ((sums: Float64Array) => number | null)[],
): DrawnInterval[] {
  if (tasks.length < 2) return statistics.map(() => ({ low: null, high: null }))
  const blocks = blocksOf(tasks)
  const indices = drawIndices(blocks.length)
  const values = statistics.map((): number[] => [])
  for (let draw = 0; draw < DRAWS; draw++) {
    const sums = new Float64Array(blocks[0]?.length ?? 0)
    for (let i = 0; i < blocks.length; i++)
      addTo(sums, blocks[indices[draw * blocks.length + i] as number] as Float64Array)
    for (const [i, statistic] of statistics.entries()) {
      const value = statistic(sums)
      if (value !== null) values[i]?.push(value)
    }
  }
  return values.map(intervalOf)
}

export function addTo(sums: Float64Array, numbers: ArrayLike<number>): void {
  for (let i = 0; i < sums.length; i++) sums[i] = (sums[i] as number) + (numbers[i] as number)
}

function blocksOf(tasks: readonly ArrayLike<number>[]): Float64Array[] {
  const count = Math.min(tasks.length, MOST_BLOCKS)
  const blocks = Array.from({ length: count }, () => new Float64Array(tasks[0]?.length ?? 0))
  for (const [i, task] of tasks.entries()) addTo(blocks[i % count] as Float64Array, task)
  return blocks
}

/** The last draws: drawing takes longer than the statistics, and the graders of a run have the same tasks. */
let lastDrawn: { readonly count: number; readonly indices: Uint16Array } = { count: 0, indices: new Uint16Array() }

function drawIndices(count: number): Uint16Array {
  if (lastDrawn.count !== count) {
    const rng = createRng('draws of tasks')
    lastDrawn = { count, indices: Uint16Array.from({ length: DRAWS * count }, () => rng.int(0, count - 1)) }
  }
  return lastDrawn.indices
}

function intervalOf(values: readonly number[]): DrawnInterval {
  if (values.length <= DRAWS / 2) return { low: null, high: null }
  const sorted = Float64Array.from(values).sort()
  const [low, high] = [quantile(sorted, 0.025), quantile(sorted, 0.975)]
  return high - low > ROUNDING ? { low, high } : { low: null, high: null }
}
