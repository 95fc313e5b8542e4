import type { GraderFigures } from '@episodic/report/grades/grade-summary'
import { formatPoints } from '@episodic/report/notes/figure-notes'
import { formatPercent } from '@episodic/report/text/format'

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
