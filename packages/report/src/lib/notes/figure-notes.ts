import type { PairedFigure } from '../compare/comparison.ts'
import { SIGNIFICANCE } from '../compare/significance.ts'
import { formatCost, formatNumber, NOTHING, plural } from '../text/format.ts'

/** What the names of further verdicts of a world begin with, among those of graders. */
export const VERDICT = 'verdict '

export const gradeLabel = (name: string) => (name.startsWith(VERDICT) ? name : `grade ${name}`)

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

export function formatFigureValue(value: number, unit: FigureUnit): string {
  return UNITS[unit].formatValue(value)
}

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
    ...grades.map((one) => [gradeLabel(one.name), one, one.unit === 'share' ? 'share' : 'number'] as const),
  ]
  return rows.flatMap(([name, figure, unit]) => (figure ? { name, figure, unit } : []))
}

/** A difference with its sign; of a cost and of tokens beside it in per cent of A: +0.0012 (+14 %). */
export function formatDifference({ a, difference: { mean } }: PairedFigure, unit: FigureUnit): string {
  const { format, suffix } = UNITS[unit]
  const share =
    unit === 'cost' && a > 0 ? ` (${formatSigned(Math.round((100 * mean) / a)).replace(/\.0+$/, '')} %)` : ''
  return `${format(mean)}${suffix}${share}`
}

export function formatDifferenceInterval({ difference: { low, high } }: PairedFigure, unit: FigureUnit): string {
  const { format, suffix } = UNITS[unit]
  return low === null || high === null ? '' : `${format(low)} to ${format(high)}${suffix}`
}

export function formatDetectable(
  { detectable, smallestP, higher, lower, tests = 1 }: PairedFigure & { readonly tests?: number | undefined },
  unit: FigureUnit,
): string {
  const differing = higher + lower
  if (differing > 0 && smallestP >= SIGNIFICANCE)
    return `none: ${plural(differing, 'task')} ${differing === 1 ? 'differs' : 'differ'}, so p is at least ${smallestP.toFixed(3)}${tests > 1 ? ' after the adjustment' : ''}`
  if (detectable === null) return NOTHING
  const { format, suffix } = UNITS[unit]
  return `${format(detectable).replace(/^\+/, '')}${suffix}`
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
