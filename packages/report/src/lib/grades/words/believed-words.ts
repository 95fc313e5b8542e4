import { clusteredMean } from '../../fold/statistics.ts'
import type { Estimate } from '../../fold/summary.ts'
import type { GradeRecord } from '../grade-record.ts'

/** How far a judge goes by what the player says, where what was done stays. */
export interface BelievedWords {
  /** Episodes that were judged with their own words, and with those of one that ended otherwise. */
  readonly episodes: number
  readonly changed: number
  /** How much more often it passes with the words of a success than with those of another; `null` without any. */
  readonly bias: Estimate | null
  /** Whether so many verdicts changed with the words, fewer than a quarter of them against the words, is no noise. */
  readonly isShown: boolean
}

const CHANGES_THAT_SHOW = 3

export function believedWords(records: readonly GradeRecord[]): BelievedWords {
  const swapped = records.flatMap(({ planted, task, value }) =>
    planted?.words && value !== null ? [{ task, ...planted.words }] : [],
  )
  swapped.sort((a, b) => (a.task < b.task ? -1 : 1))
  const tasks = [...new Set(swapped.map(({ task }) => task))]
  const lifts = swapped.map(({ success, before, after }) => (Number(after) - Number(before)) * (success ? -1 : 1))
  const changed = swapped.filter(({ before, after }) => before !== after).length
  const numbers = swapped.map(({ task }) => tasks.indexOf(task))
  const isShown = changed >= CHANGES_THAT_SHOW && lifts.reduce((sum, lift) => sum + lift, 0) > changed / 2
  return { episodes: swapped.length, changed, bias: clusteredMean(lifts, numbers), isShown }
}
