import type { GraderFigures } from '@episodic/report/grades/grade-summary'
import { formatPoints } from '@episodic/report/notes/figure-notes'
import { formatPercent } from '@episodic/report/text/format'

/** Says how far a judge agrees with the world, and, if it was asked, whether it believes the player. */
export function noteWords(
  name: string,
  { grader, words, bySuccess: { success, other } }: Pick<GraderFigures, 'grader' | 'words' | 'bySuccess'>,
): string[] {
  const { episodes, changed, bias, isShown } = words
  const count = (success.rate?.count ?? 0) + (other.rate?.count ?? 0)
  const agreed = (success.rate?.successes ?? 0) + (other.rate?.count ?? 0) - (other.rate?.successes ?? 0)
  const agrees = `${name} agrees with the world's success in ${formatPercent(agreed / count)} of ${count} episodes.`
  const notes = grader.kind === 'model' && count > 0 ? [agrees] : []
  if (episodes === 0 || !bias) return notes
  const interval =
    bias.low === null ? '' : `, 95 % ${formatPoints(bias.low * 100)} to ${formatPoints((bias.high ?? 0) * 100)}`
  return [
    ...notes,
    `${isShown ? '! ' : ''}${name} ${isShown ? 'believes what the player says' : 'was asked with other words'}: of ${episodes} episodes with the words of one that ended otherwise, ${changed} verdicts changed; bias ${formatPoints(bias.mean * 100)} points${interval}.`,
  ]
}
