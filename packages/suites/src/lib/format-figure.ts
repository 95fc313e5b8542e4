import { shortUnearned } from '@episodic/report/cheating/unearned'
import { formatCount, NOTHING } from '@episodic/report/text/format'
import type { Mean } from './mean-return.ts'
import type { LineResult } from './suite-result.ts'
import type { Figure } from './world-references.ts'

/** The longest list of numbers that is shown as a whole, and how many numbers are shown of a longer one. */
const WHOLE = 3
const FIRST = 2

/** A number in at most eight significant digits: −64.702308, 0.74419029, 1.8752e−4. */
function formatExact(value: number): string {
  const text =
    Number.isInteger(value) && Math.abs(value) < 1e7
      ? formatCount(value)
      : String(Number(value.toPrecision(8))).replace(/e-/, 'e−')
  return text.replace(/^-/, '−')
}

function formatFigure(figure: Figure): string {
  if (typeof figure === 'number') return formatExact(figure)
  if (typeof figure === 'string') return figure.length > 12 ? `${figure.slice(0, 8)}…` : figure
  if (figure.length <= WHOLE) return figure.map(formatExact).join(', ')
  return [...figure.slice(0, FIRST).map(formatExact), '…'].join(', ')
}

/** A mean, rounded so that its interval shows: 7.91. */
function formatMean({ mean, low, high }: Mean): string {
  const width = (high - low) / 2
  return width === 0 ? formatExact(mean) : mean.toFixed(digitsOf(width)).replace(/^-/, '−')
}

/**
 * An interval: ± 0.25; 0.001 to 0.012 if it is not about symmetric, as that of rare successes; empty without a width.
 */
function formatInterval({ mean, low, high }: Mean): string {
  const width = (high - low) / 2
  if (width === 0) return ''
  const digits = digitsOf(width)
  if (Math.abs((low + high) / 2 - mean) <= width / 10) return `± ${width.toFixed(digits)}`
  return `${low.toFixed(digits)} to ${high.toFixed(digits)}`.replaceAll(/-(?=\d)/g, '−')
}

/** A mean with its interval: 7.93 ± 0.27, or 0.000 (0.000 to 0.153). */
function formatEstimate(estimate: Mean): string {
  const interval = formatInterval(estimate)
  return `${formatMean(estimate)} ${interval.includes(' to ') ? `(${interval})` : interval}`.trim()
}

function digitsOf(width: number): number {
  return Math.max(0, Math.min(12, 1 - Math.floor(Math.log10(width))))
}

export function formatHere({ here }: Pick<LineResult, 'here'>): { readonly figure: string; readonly half: string } {
  if (here === null) return { figure: NOTHING, half: '' }
  if (typeof here === 'object' && 'mean' in here) return { figure: formatMean(here), half: formatInterval(here) }
  return { figure: formatFigure(here), half: '' }
}

export function formatReference(line: LineResult): { readonly figure: string; readonly source: string } {
  if (line.kind !== 'scored') return { figure: formatFigure(line.reference.value), source: line.reference.source }
  const { random, optimum } = line.anchors
  if (random === null || optimum === null) return { figure: NOTHING, source: 'random or best play is unknown' }
  return { figure: `${formatExact(random)} … ${formatExact(optimum)}`, source: 'random = 0 … best = 1' }
}

/** Whether a line agrees with its reference, in words; for a scored line its score. */
export function formatVerdict(line: LineResult): string {
  if (line.kind === 'scored') {
    const notes = [...(line.failed > 0 ? [`${line.failed} failed`] : []), ...shortUnearned(line.unearned)].join(', ')
    return [line.score ? formatEstimate(line.score) : '', notes && `(${notes})`].join(' ').trim()
  }
  switch (line.verdict) {
    case 'same':
      return 'same'
    case 'inside':
      return line.reference.tolerance === 'exact' ? 'same' : 'inside 99.9 %'
    case 'differs':
      return line.kind === 'exact' ? 'differs' : 'outside 99.9 %'
    case 'not-checked':
      return `not checked: ${line.failed} failed`
  }
}

export function formatFigureName({ id, params, quantity }: LineResult): string {
  const variant = id.split('/').slice(0, -1).join('/')
  return variant !== '' && params && Object.keys(params).length > 0 ? `${variant}: ${quantity}` : quantity
}
