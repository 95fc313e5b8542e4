import { clusteredMean } from '../../fold/statistics.ts'
import type { Estimate } from '../../fold/summary.ts'
import { formatPoints } from '../../notes/figure-notes.ts'
import { formatPercent } from '../../text/format.ts'
import type { GradeRecord } from '../grade-record.ts'
import type { GraderFigures } from '../grade-summary.ts'

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

/** So many verdicts that follow the words, and at most half as many that go against them, are no noise. */
const CHANGES_THAT_SHOW = 3

/** Says how far a judge agrees with the world, and whether it believes the player; nothing if it was not asked. */
export function noteWords(
  name: string,
  { words, bySuccess: { success, other } }: Pick<GraderFigures, 'words' | 'bySuccess'>,
): string[] {
  const { episodes, changed, bias } = words
  if (episodes === 0 || !bias) return []
  const followed = Math.round(bias.mean * episodes)
  const isShown = changed >= CHANGES_THAT_SHOW && followed > changed / 2
  const count = (success.rate?.count ?? 0) + (other.rate?.count ?? 0)
  const agreed = (success.rate?.successes ?? 0) + (other.rate?.count ?? 0) - (other.rate?.successes ?? 0)
  const interval =
    bias.low === null ? '' : `, 95 % ${formatPoints(bias.low * 100)} to ${formatPoints((bias.high ?? 0) * 100)}`
  return [
    ...(count > 0
      ? [`${name} agrees with the world's success in ${formatPercent(agreed / count)} of ${count} episodes.`]
      : []),
    `${isShown ? '! ' : ''}${name} ${isShown ? 'believes what the player says' : 'was asked with other words'}: of ${episodes} episodes with the words of one that ended otherwise, ${changed} verdicts changed; bias ${formatPoints(bias.mean * 100)} points${interval}.`,
  ]
}
