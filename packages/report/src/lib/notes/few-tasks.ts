import { detectableDifference, fewestTasks, leastAdjustedP } from '../compare/shown-differences.ts'
import { SIGNIFICANCE } from '../compare/significance.ts'
import { formatCount, plural } from '../text/format.ts'

export function noteFewTasks(tasks: number, runs: number): string | null {
  const tests = runs - 1
  if (tests < 1 || tasks < 1 || leastAdjustedP(tasks, tests) < SIGNIFICANCE) return null
  return `${plural(tasks, 'task')} can show nothing among ${plural(runs, 'player')}: p is at least ${leastAdjustedP(tasks, tests).toFixed(3)}${tests > 1 ? ' after the adjustment' : ''}. ${formatCount(fewestTasks(tests))} could.`
}

/**
 * Says before they are played which difference in success so many tasks will show among so many runs: if both players
 * solve half of the tasks, each of them others, the difference of a task has the variance ½. Players that solve
 * the same tasks differ less, and then smaller differences are shown.
 */
export function notePlannedTasks(tasks: number, runs: number): string | null {
  if (runs < 2 || tasks < 2) return noteFewTasks(tasks, runs)
  const difference = detectableDifference({ standardError: Math.sqrt(0.5 / tasks), clusters: tasks }, runs - 1) ?? 1
  const points = Math.min(100, 100 * difference).toFixed(0)
  return (
    noteFewTasks(tasks, runs) ??
    `${plural(tasks, 'task')} show a difference in success of ${points} points among ${plural(runs, 'player')} with 80 % power, if each solves half of them independently of the others.`
  )
}
