import { NORMAL_POINTS, studentPoint } from '@episodic/protocol/internal'
import type { Comparison, PairedFigure } from '@episodic/report/compare/comparison'
import { formatCount, plural } from '@episodic/report/text/format'
import { type Decision, decide, notWorseThan } from './decision.ts'

/** Gains, and as many losses, of whole tasks that are added to the differences of success. */
const ADDED = 2

/**
 * Decides whether B solves at most `margin` less than A: met if the interval of the difference lies above −margin.
 *
 * @param margin - a share.
 * @param baseline - the name of A, for people.
 */
export function decideNotWorse(
  { success, tasks: { onlyA, promptsDiffer } }: Comparison,
  { margin, baseline }: { readonly margin: number; readonly baseline: string },
): Decision {
  const name = notWorseThan(baseline)
  const condition = { way: '>=', limit: -margin } as const
  if (!success)
    return {
      ...decide(condition, { name, unit: 'points', value: null, low: null, high: null, tasks: 0 }),
      notes: [`No task has a finished episode both in it and in ${baseline}.`],
    }
  const { low, high, standardError, degrees } = widen(success)
  const tasks = success.difference.clusters
  const needed = countTasks(success, margin)
  const detectable = (studentPoint(degrees) + studentPoint(degrees, 0.6)) * standardError
  return {
    ...decide(condition, { name, unit: 'points', value: success.difference.mean, low, high, tasks }),
    detectable,
    tasksNeeded: needed > tasks ? needed : null,
    notes: [
      ...(onlyA.count > 0
        ? [`${plural(onlyA.count, 'task')} of ${baseline} ${onlyA.count === 1 ? 'is' : 'are'} not in it.`]
        : []),
      ...(promptsDiffer > 0 ? [`The prompts of ${formatCount(promptsDiffer)} of the tasks differ.`] : []),
    ],
  }
}

/**
 * Returns the interval of a paired difference of success with two tasks won and two tasks lost added.
 *
 * The interval of Student's t relies on the differences that were seen. Where hardly a task differs, which is usual
 * for two versions of one player, it is far too narrow: of 20 tasks without any difference it has no width, and a run
 * that is worse by 3 points would pass in 54 of 100 gates. With the added tasks it passes in at most 4 (the nominal
 * rate is 2.5), for all margins from 3 to 20 points and 20 to 300 tasks; a test computes it.
 *
 * Agresti & Min, "Simple improved confidence intervals for comparing matched proportions" (2005), and Bonett & Price,
 * "Adjusted Wald Confidence Interval for a Difference of Binomial Proportions Based on Paired Data" (2012), who add one
 * of each; two of each, as Agresti & Coull (1998) add to a single share, hold for small shares of differing tasks too.
 */
export function widen({ difference }: Pick<PairedFigure, 'difference'>) {
  const { mean, clusters } = difference
  const tasks = clusters + 2 * ADDED
  const centre = (clusters * mean) / tasks
  const squares = sumSquares(difference) + 2 * ADDED
  const standardError = Math.sqrt((squares - tasks * centre ** 2) / (tasks - 1) / tasks)
  const half = studentPoint(tasks - 1) * standardError
  return { low: Math.max(-1, centre - half), high: Math.min(1, centre + half), standardError, degrees: tasks - 1 }
}

function sumSquares({ mean, standardError, clusters }: PairedFigure['difference']): number {
  return (standardError ?? 0) ** 2 * clusters * (clusters - 1) + clusters * mean ** 2
}

/**
 * About how many tasks show a margin with 80 % power, if both runs are equally good and their tasks differ as these do:
 * those for which z · √(n · variance + 4) / (n + 4) is the margin.
 */
function countTasks({ difference }: PairedFigure, margin: number): number {
  const { clusters, mean } = difference
  const variance = Math.max(0, sumSquares(difference) / clusters - mean ** 2)
  const error = margin / (NORMAL_POINTS[0.95] + NORMAL_POINTS[0.6])
  const added = 2 * ADDED
  const all = (variance + Math.sqrt(variance ** 2 + 4 * added * error ** 2 * (1 - variance))) / (2 * error ** 2)
  return Math.max(1, Math.ceil(all - added))
}
