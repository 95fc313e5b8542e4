import type { PairedFigure } from '@episodic/report/compare/comparison'
import { detectableDifference } from '@episodic/report/compare/shown-differences'

/**
 * Adjusts p-values for the number of tests (S. Holm, "A Simple Sequentially Rejective Multiple Test Procedure", 1979):
 * the chance that any test without an effect has an adjusted value below α is at most α, whatever depends on what.
 *
 * @returns the adjusted values, in the order of the given ones.
 */
export function adjustByHolm(values: readonly number[]): number[] {
  const order = [...values.keys()].sort((a, b) => (values[a] as number) - (values[b] as number))
  const adjusted = new Array<number>(values.length)
  let highest = 0
  order.forEach((index, rank) => {
    highest = Math.max(highest, Math.min(1, (values.length - rank) * (values[index] as number)))
    adjusted[index] = highest
  })
  return adjusted
}

/** Returns figures with what they show if each is one of several: adjusted p-values, and detectable differences. */
export function adjustFigures<Figure extends PairedFigure>(figures: readonly Figure[]) {
  const tests = figures.length
  const adjusted = adjustByHolm(figures.map(({ p }) => p))
  return figures.map((figure, i) => ({
    ...figure,
    holm: adjusted[i] as number,
    tests,
    smallestP: Math.min(1, tests * figure.smallestP),
    detectable: detectableDifference(figure.difference, tests),
  }))
}
