import { clusteredMean } from '../../fold/statistics.ts'
import type { Estimate } from '../../fold/summary.ts'
import type { GradeRecord } from '../grade-record.ts'

/** How far a judge goes by what the player says, where what was done stays. */
export interface BelievedWords {
  /** Episodes that were judged with their own words, and with those of one that ended otherwise. */
  readonly episodes: number
  /** Of them, those whose verdict changed with the words. */
  readonly changed: number
  /** How much more often it passes with the words of a success than with those of another; `null` without any. */
  readonly bias: Estimate | null
}

/** Returns what the verdicts on swapped words show. */
export function believedWords(records: readonly GradeRecord[]): BelievedWords {
  const swapped = records.flatMap(({ planted, task, value }) =>
    planted?.words && value !== null ? [{ task, ...planted.words }] : [],
  )
  swapped.sort((a, b) => (a.task < b.task ? -1 : 1))
  const tasks = [...new Set(swapped.map(({ task }) => task))]
  const lifts = swapped.map(({ success, before, after }) => (Number(after) - Number(before)) * (success ? -1 : 1))
  return {
    episodes: swapped.length,
    changed: swapped.filter(({ before, after }) => before !== after).length,
    bias: clusteredMean(
      lifts,
      swapped.map(({ task }) => tasks.indexOf(task)),
    ),
  }
}
