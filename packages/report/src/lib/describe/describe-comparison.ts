import type { Comparison, PairedFigure } from '../compare/comparison.ts'
import { describeRules } from '../fold/scored-outcome.ts'
import { formatCount, formatNumber, NOTHING, plural } from '../text/format.ts'

/** One figure of a comparison, formatted. */
export interface FigureRow {
  readonly name: string
  readonly a: string
  readonly b: string
  readonly difference: string
  readonly interval: string
  readonly effect: PairedFigure['effect']
  /** How many tasks are higher, lower and equal in B, with the p-value of the sign test. */
  readonly tasks: string
}

/** The formatted figures of a comparison, in display order. Differences of shares are in percentage points. */
export function figureRows({ success, return: returned, length, tokens, cost, grades }: Comparison): FigureRow[] {
  const formatShare = (share: number) => `${(share * 100).toFixed(1)} %`
  const rows = [
    ['success', success, formatShare, 'points'],
    ['return', returned, formatNumber, ''],
    ['steps', length, formatNumber, ''],
    ['tokens', tokens, formatNumber, ''],
    ['cost', cost, formatNumber, ''],
    ...grades.map((grade) =>
      grade.unit === 'share'
        ? ([`grade ${grade.name}`, grade, formatShare, 'points'] as const)
        : ([`grade ${grade.name}`, grade, formatNumber, ''] as const),
    ),
  ] as const
  return rows.flatMap(([name, figure, format, unit]) => {
    if (!figure) return []
    const { mean, low, high, clusters } = figure.difference
    const scale = unit === 'points' ? 100 : 1
    const digits = unit === 'points' ? formatPoints : formatSigned
    const suffix = unit && ` ${unit}`
    const interval =
      low === null || high === null
        ? clusters < 2
          ? 'one task: no interval'
          : 'same in every task'
        : `${digits(low * scale)} to ${digits(high * scale)}${suffix}`
    return {
      name,
      a: format(figure.a),
      b: format(figure.b),
      difference: `${digits(mean * scale)}${suffix}`,
      interval,
      effect: figure.effect,
      tasks: `${formatCount(figure.higher)} higher, ${formatCount(figure.lower)} lower, ${formatCount(figure.equal)} equal; ${formatPValue(figure.p)}`,
    }
  })
}

/** The result of the comparison in one sentence. */
export function verdictOf({ success, return: returned, tasks }: Comparison): string {
  if (!success || !returned) return 'No task has a finished episode in both runs, so there is nothing to compare.'
  if (tasks.compared === 1) return 'One task is not enough to show that either run is better.'
  const solves = {
    higher: 'B solves more',
    lower: 'B solves less',
    same: 'B solves as much in every task',
    unclear: 'Neither run is shown to solve more',
  }[success.effect]
  const earns = {
    higher: 'it earns more',
    lower: 'it earns less',
    same: 'it earns the same',
    unclear: 'neither is shown to earn more',
  }[returned.effect]
  return `${solves}, and ${earns}.`
}

/** What is to be known of runs on a server whose chance is not decided by the seed. */
export const UNSEEDED = 'The server may not use the seed, so the chance of a task may differ between the runs.'

/** How the figures were computed, and over how many tasks. */
export function methodOf({ tasks, successRules, seeded }: Comparison): string {
  const chance = seeded ? '' : ` ${UNSEEDED}`
  return `Success: ${describeRules(successRules)}. Paired over ${plural(tasks.compared, 'task')}, each counted once with the mean of its rollouts: 95 % intervals by Student’s t, exact sign tests (McNemar’s with one rollout per task).${chance}`
}

/** Differences in configuration besides the policy, which may explain differing figures too. */
export function otherDifferences({ configuration }: Comparison): Comparison['configuration'] {
  return configuration.filter(({ key }) => !key.startsWith('policy.'))
}

/** The tasks that only one run has; `null` if there are none. */
export function aloneIn(side: 'A' | 'B', { count, named }: Comparison['tasks']['onlyA']): string | null {
  if (count === 0) return null
  const more = count > named.length ? ` and ${formatCount(count - named.length)} more` : ''
  return `${plural(count, 'task')} only in ${side}: ${named.join(', ')}${more}`
}

export function formatSigned(value: number): string {
  return `${value > 0 ? '+' : ''}${formatNumber(value)}`
}

export function formatPoints(points: number): string {
  const text = points.toFixed(1).replace(/^-0\.0$/, '0.0')
  return `${points > 0 && text !== '0.0' ? '+' : ''}${text.replace('-', '−')}`
}

/** A p-value, never rounded to 0. */
export function formatPValue(p: number): string {
  if (Number.isNaN(p)) return `p ${NOTHING}`
  return p < 0.001 ? 'p < 0.001' : `p = ${p.toFixed(3)}`
}
