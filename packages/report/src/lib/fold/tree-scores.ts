import { createRate } from './clustered-rate.ts'
import { clusteredMean } from './statistics.ts'
import type { Summary } from './summary.ts'

/** A finished episode that is a leaf of a tree. */
export interface ScoredLeaf {
  /** The same number for the episodes of one task. */
  readonly task: number
  /** The number of its tree within the task. */
  readonly tree: number
  readonly unshaped: number
  readonly success: boolean
}

/**
 * The scores of whole trees, of which all leaves have finished: of fewer leaves, the best is a different figure. Intervals
 * are clustered by task.
 */
export type TreeScores = Omit<NonNullable<Summary['branch']>, 'leaves' | 'trees'>

/**
 * Scores trees by their best leaf and by their mean leaf.
 *
 * @param scored - the finished leaves; those of one tree are adjacent, and so are the trees of one task.
 * @param leaves - of a whole tree.
 * @param trees - all trees, including those without a finished leaf.
 */
export function scoreTrees(scored: readonly ScoredLeaf[], leaves: number, trees: number): TreeScores {
  const best = { returns: [] as number[], tasks: [] as number[], rate: createRate() }
  const mean = { returns: [] as number[], tasks: [] as number[], rate: createRate() }
  for (let from = 0; from < scored.length; ) {
    const { task, tree } = scored[from] as ScoredLeaf
    let to = from
    while (scored[to]?.task === task && scored[to]?.tree === tree) to += 1
    const whole = scored.slice(from, to)
    from = to
    if (whole.length < leaves) continue
    best.returns.push(whole.reduce((most, { unshaped }) => Math.max(most, unshaped), Number.NEGATIVE_INFINITY))
    best.tasks.push(task)
    best.rate.add(
      task,
      whole.some(({ success }) => success),
    )
    for (const { unshaped, success } of whole) {
      mean.returns.push(unshaped)
      mean.tasks.push(task)
      mean.rate.add(task, success)
    }
  }
  return {
    rollouts: best.returns.length,
    partial: trees - best.returns.length,
    best: { return: clusteredMean(best.returns, best.tasks), success: best.rate.finish() },
    mean: { return: clusteredMean(mean.returns, mean.tasks), success: mean.rate.finish() },
  }
}
