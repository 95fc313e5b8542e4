import type { Histogram } from './summary.ts'

const MOST_BINS = 40

/**
 * Counts values in bins whose width is 1, 2 or 5 times a power of ten, so that edges are round numbers.
 *
 * @param smallestWidth - for whole numbers, 1.
 */
export function histogramOf(values: Float64Array, smallestWidth = 0): Histogram {
  if (values.length === 0) return { start: 0, width: smallestWidth || 1, counts: [] }
  let low = Number.POSITIVE_INFINITY
  let high = Number.NEGATIVE_INFINITY
  for (const value of values) {
    if (value < low) low = value
    if (value > high) high = value
  }
  const spread = high - low || Math.abs(high) || 1
  // Values that floats can hardly tell apart share a bin: a finer width would be lost beside them, or be no number.
  const finest = Math.max(1e-300, 1e-12 * Math.max(Math.abs(low), Math.abs(high)))
  const width = Math.max(smallestWidth, niceStep(Math.max(finest, spread / (MOST_BINS - 2))))
  const first = binOf(low, width)
  const counts = new Array<number>(binOf(high, width) - first + 1).fill(0)
  for (const value of values) counts[binOf(value, width) - first] = (counts[binOf(value, width) - first] ?? 0) + 1
  return { start: roundTo(first * width, width), width, counts }
}

export function niceStep(step: number): number {
  const power = Number(`1e${Number(step.toExponential().split('e')[1])}`)
  const factor = [1, 2, 5, 10].find((candidate) => candidate * power >= step * (1 - 1e-9)) ?? 10
  return Number((factor * power).toPrecision(1))
}

export function roundTo(value: number, step: number): number {
  const digits = Math.max(0, -Math.floor(Math.log10(step)) + 1)
  return digits > 15 ? value : Number(value.toFixed(digits)) || 0
}

/** Floats are not decimal: 0.3 / 0.1 is 2.9999…, but belongs to the bin that starts at 0.3. */
function binOf(value: number, width: number): number {
  const position = value / width
  const nearest = Math.round(position)
  return Math.abs(position - nearest) < 1e-9 * Math.max(1, Math.abs(position)) ? nearest : Math.floor(position)
}
