import type { Comparison, PairedFigure } from '../compare/comparison.ts'
import { SIGNIFICANCE } from '../compare/significance.ts'
import { describeRules } from '../fold/scored-outcome.ts'
import { formatCost, formatCount, formatNumber, NOTHING, plural } from '../text/format.ts'

/** One figure of a comparison, formatted. */
export interface FigureRow {
  readonly name: string
  readonly a: string
  readonly b: string
  readonly difference: string
  readonly interval: string
  readonly effect: PairedFigure['effect']
  /** Whether B is shown to be higher or lower, in words. */
  readonly shown: string
  /** How many tasks are higher, lower and equal in B. */
  readonly tasks: string
  /** The p-values of both tests. */
  readonly tests: string
  /** The smallest difference that these tasks can show. */
  readonly detectable: string
}

/** The formatted figures of a comparison, in display order. Differences of shares are in percentage points. */
export function figureRows(comparison: Comparison): FigureRow[] {
  return namedFigures({ ...comparison, steps: comparison.length }).map(({ name, figure, unit }) => {
    const { formatValue } = UNITS[unit]
    const { low, clusters } = figure.difference
    return {
      name,
      a: formatValue(figure.a),
      b: formatValue(figure.b),
      difference: formatDifference(figure, unit),
      interval:
        low === null
          ? clusters < 2
            ? 'one task: no interval'
            : 'same in every task'
          : formatDifferenceInterval(figure, unit),
      effect: figure.effect,
      shown: describeEffect(figure),
      tasks: `${formatCount(figure.higher)} higher, ${formatCount(figure.lower)} lower, ${formatCount(figure.equal)} equal`,
      tests: `sign-flip test ${formatPValue(figure.p)}, sign test ${formatPValue(figure.signP)}`,
      detectable: describeDetectable(figure, unit),
    }
  })
}

/** How a figure is written: a share in per cent, an amount of money, or a number. */
export type FigureUnit = 'share' | 'cost' | 'number'

const UNITS: Readonly<
  Record<
    FigureUnit,
    {
      readonly formatValue: (value: number) => string
      readonly format: (difference: number) => string
      readonly suffix: string
    }
  >
> = {
  share: {
    formatValue: (share) => `${(share * 100).toFixed(1)} %`,
    format: (difference) => formatPoints(difference * 100),
    suffix: ' points',
  },
  cost: {
    formatValue: formatCost,
    format: (difference) => `${difference > 0 ? '+' : ''}${formatCost(difference)}`,
    suffix: '',
  },
  number: { formatValue: formatNumber, format: formatSigned, suffix: '' },
}

type Passes<Figure> = { readonly k: number; readonly any: Figure; readonly all: Figure } | null

/** The figures that are there, with their names and units, in display order. */
export function namedFigures<Figure extends PairedFigure>(figures: {
  readonly success: Figure | null
  readonly passes: Passes<Figure>
  readonly return: Figure | null
  readonly steps: Figure | null
  readonly tokens: Figure | null
  readonly cost: Figure | null
  readonly grades: readonly (Figure & { readonly name: string; readonly unit: 'share' | 'score' })[]
}): { readonly name: string; readonly figure: Figure; readonly unit: FigureUnit }[] {
  const { success, passes, tokens, cost, steps, grades } = figures
  const rows: readonly (readonly [name: string, figure: Figure | null, unit: FigureUnit])[] = [
    ['success', success, 'share'],
    ...(passes
      ? ([
          [`pass@${passes.k}`, passes.any, 'share'],
          [`pass^${passes.k}`, passes.all, 'share'],
        ] as const)
      : []),
    ['return', figures.return, 'number'],
    ['steps', steps, 'number'],
    ['tokens', tokens, 'number'],
    ['cost', cost, 'cost'],
    ...grades.map((grade) => [`grade ${grade.name}`, grade, grade.unit === 'share' ? 'share' : 'number'] as const),
  ]
  return rows.flatMap(([name, figure, unit]) => (figure ? { name, figure, unit } : []))
}

/** A difference with its sign; of a cost and of tokens beside it in per cent of A: +0.0012 (+14 %). */
export function formatDifference({ a, difference: { mean } }: PairedFigure, unit: FigureUnit): string {
  const { format, suffix } = UNITS[unit]
  const share = unit === 'cost' && a > 0 ? ` (${formatWholePercent(mean / a)})` : ''
  return `${format(mean)}${suffix}${share}`
}

/** The interval of a difference; empty if there is none. */
export function formatDifferenceInterval({ difference: { low, high } }: PairedFigure, unit: FigureUnit): string {
  const { format, suffix } = UNITS[unit]
  return low === null || high === null ? '' : `${format(low)} to ${format(high)}${suffix}`
}

/**
 * Says whether B is shown to be higher or lower. That is decided by the sign-flip test of the mean difference; if only the sign
 * test finds something, B is higher or lower in more tasks than chance explains, and not shown to be so on average.
 */
function describeEffect({ effect, signP, higher, lower }: PairedFigure): string {
  if (effect !== 'unclear') return effect
  if (signP >= SIGNIFICANCE) return 'not shown'
  return `${higher > lower ? 'higher' : 'lower'} in more tasks; the mean is not shown to be`
}

/** Says the smallest difference that these tasks can show, or why there is none. */
export function describeDetectable({ detectable, smallestP, higher, lower }: PairedFigure, unit: FigureUnit): string {
  const differing = higher + lower
  if (differing > 0 && smallestP >= SIGNIFICANCE)
    return `none: ${plural(differing, 'task')} ${differing === 1 ? 'differs' : 'differ'}, so p is at least ${smallestP.toFixed(3)}`
  if (detectable === null) return NOTHING
  const { format, suffix } = UNITS[unit]
  return `${format(detectable).replace(/^\+/, '')}${suffix}`
}

function formatWholePercent(share: number): string {
  return `${formatSigned(Math.round(share * 100)).replace(/\.0+$/, '')} %`
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
    higher: 'earns more',
    lower: 'earns less',
    same: 'earns the same',
    unclear: 'neither is shown to earn more',
  }[returned.effect]
  if (success.effect === 'unclear' && returned.effect === 'unclear')
    return 'Neither run is shown to solve more or to earn more.'
  if (returned.effect === 'unclear') return `${solves}; ${earns}.`
  const isOpposed =
    success.effect === 'unclear' ||
    (success.effect !== returned.effect && success.effect !== 'same' && returned.effect !== 'same')
  const subject = success.effect === 'unclear' ? 'B' : 'it'
  return `${solves}, ${isOpposed ? 'but' : 'and'} ${subject} ${earns}.`
}

/** What is to be known of runs on a server whose chance is not decided by the seed. */
export const UNSEEDED = 'The server may not use the seed, so the chance of a task may differ between the runs.'

/** How the figures were computed, and over how many tasks. */
export function methodOf({ tasks, success, successRules, seeded }: Comparison): string {
  const chance = seeded ? '' : ` ${UNSEEDED}`
  const power = success ? ` ${describePower(success)}` : ''
  return `Success: ${describeRules(successRules)}. Paired over ${plural(tasks.compared, 'task')}, each counted once with the mean of its rollouts (the page of a run has the rate over episodes): 95 % intervals by Student’s t. A difference is shown if p < 0.05 in the ${testOf(success)}; the exact sign test (McNemar’s with one rollout per task) counts tasks.${power}${chance}`
}

/** Says which sign-flip test has decided: random signs are drawn where all are too many to count. */
function testOf(figure: Pick<PairedFigure, 'exact'> | null): string {
  return figure?.exact === false ? 'sign-flip test of the means (19,999 draws)' : 'exact sign-flip test of the means'
}

function describePower(success: PairedFigure): string {
  const detectable = describeDetectable(success, 'share')
  if (detectable === NOTHING) return ''
  if (detectable.startsWith('none'))
    return `No difference in success can be shown (${detectable.slice('none: '.length)}).`
  return `The smallest difference in success that such tasks show with 80 % power is ${detectable}.`
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
