import { describeRules } from '../report/fold/scored-outcome.ts'
import { formatCount, formatNumber, NOTHING } from '../report/plots/format.ts'
import type { Comparison } from './comparison.ts'
import type { Effect } from './paired-figure.ts'

/** One figure of a comparison, written. */
export interface FigureRow {
  readonly name: string
  readonly a: string
  readonly b: string
  readonly difference: string
  readonly interval: string
  readonly effect: Effect
  /** How many tasks went which way, with the chance of that split. */
  readonly tasks: string
}

/** How the figures of a comparison read, in the order in which they are shown. Differences of shares are in points. */
export function figureRows({ success, return: returned, length }: Comparison): FigureRow[] {
  const rows = [
    ['success', success, (share: number) => `${(share * 100).toFixed(1)} %`, 'points'],
    ['return', returned, formatNumber, ''],
    ['steps', length, formatNumber, ''],
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
          : 'the same in every task'
        : `${digits(low * scale)} to ${digits(high * scale)}${suffix}`
    return {
      name,
      a: format(figure.a),
      b: format(figure.b),
      difference: `${digits(mean * scale)}${suffix}`,
      interval,
      effect: figure.effect,
      tasks: `${formatCount(figure.higher)} higher, ${formatCount(figure.lower)} lower, ${formatCount(figure.equal)} equal; ${formatChance(figure.p)}`,
    }
  })
}

/** What the comparison says of B, in one sentence. */
export function verdictOf({ success, return: returned, tasks }: Comparison): string {
  if (!success || !returned) return 'No task has a finished episode in both runs: there is nothing to compare.'
  if (tasks.compared === 1) return 'One task says nothing of others: neither run is shown to be better.'
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

/** How the figures were made, and over how many tasks. */
export function methodOf({ tasks, successRules }: Comparison): string {
  return `Success: ${describeRules(successRules)}. Paired over ${plural(tasks.compared, 'task')}, each counted once with the mean of its rollouts: 95 % intervals by Student’s t for the tasks less one, exact sign tests (McNemar’s where there is one rollout).`
}

/** Differences of configuration other than the player's: what else may be why the figures differ. */
export function otherDifferences({ configuration }: Comparison): Comparison['configuration'] {
  return configuration.filter(({ key }) => !key.startsWith('policy.'))
}

/** Which tasks only one of the runs has; `null` when there is none. */
export function aloneIn(side: 'A' | 'B', { count, named }: Comparison['tasks']['onlyA']): string | null {
  if (count === 0) return null
  const more = count > named.length ? ` and ${formatCount(count - named.length)} more` : ''
  return `${plural(count, 'task')} only in ${side}: ${named.join(', ')}${more}`
}

export function formatSigned(value: number): string {
  return `${value > 0 ? '+' : ''}${formatNumber(value)}`
}

export function plural(count: number, word: string): string {
  return `${formatCount(count)} ${word}${count === 1 ? '' : 's'}`
}

function formatPoints(points: number): string {
  const text = points.toFixed(1).replace(/^-0\.0$/, '0.0')
  return `${points > 0 && text !== '0.0' ? '+' : ''}${text.replace('-', '−')}`
}

/** A p-value, never as 0. */
function formatChance(p: number): string {
  if (Number.isNaN(p)) return `p ${NOTHING}`
  return p < 0.001 ? 'p < 0.001' : `p = ${p.toFixed(3)}`
}
