import { createRate } from './clustered-rate.ts'
import { clusteredMean } from './statistics.ts'
import type { Summary } from './summary.ts'
import type { VoidBounds } from './void-bounds.ts'

export interface SealedLeaf {
  /** The same number for the episodes of one task. */
  readonly task: number
  readonly tree: number
  readonly unshaped: number
  readonly success: boolean | null
}

/**
 * The scores of whole trees, of which all leaves have finished: of fewer leaves, the best is a different figure.
 * Intervals are clustered by task. The bounds are over the trees whose leaves have all ended: what they would be if the
 * failed ones were all lost, and all won.
 */
export type TreeScores = Omit<NonNullable<Summary['branch']>, 'leaves' | 'trees'>

export function scoreTrees(sealed: readonly SealedLeaf[], leaves: number, trees: number): TreeScores {
  const best = { returns: [] as number[], tasks: [] as number[], rate: createRate() }
  const mean = { returns: [] as number[], tasks: [] as number[], rate: createRate() }
  const ended: SealedLeaf[][] = []
  for (let from = 0; from < sealed.length; ) {
    const { task, tree } = sealed[from] as SealedLeaf
    let to = from
    while (sealed[to]?.task === task && sealed[to]?.tree === tree) to += 1
    const whole = sealed.slice(from, to)
    from = to
    if (whole.length < leaves) continue
    ended.push(whole)
    if (whole.some(({ success }) => success === null)) continue
    best.returns.push(whole.reduce((most, { unshaped }) => Math.max(most, unshaped), Number.NEGATIVE_INFINITY))
    best.tasks.push(task)
    best.rate.add(
      task,
      whole.some(({ success }) => success === true),
    )
    for (const { unshaped, success } of whole) {
      mean.returns.push(unshaped)
      mean.tasks.push(task)
      mean.rate.add(task, success === true)
    }
  }
  const failed = ended.length - best.returns.length
  return {
    rollouts: best.returns.length,
    partial: trees - best.returns.length,
    failed,
    best: {
      return: clusteredMean(best.returns, best.tasks),
      success: best.rate.finish(),
      bounds: failed === 0 ? null : boundsOf(ended.map(bestLeaf)),
    },
    mean: {
      return: clusteredMean(mean.returns, mean.tasks),
      success: mean.rate.finish(),
      bounds: failed === 0 ? null : boundsOf(ended.flat().map(({ success }) => success)),
    },
  }
}

/** Whether a leaf of a tree succeeded; `null` if that depends on one that failed. */
function bestLeaf(leaves: readonly SealedLeaf[]): boolean | null {
  const outcomes = leaves.map(({ success }) => success)
  return outcomes.includes(true) || (outcomes.includes(null) ? null : false)
}

function boundsOf(outcomes: readonly (boolean | null)[]): VoidBounds {
  const share = (isWon: (outcome: boolean | null) => boolean) => outcomes.filter(isWon).length / outcomes.length
  return { low: share((outcome) => outcome === true), high: share((outcome) => outcome !== false) }
}
