import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { GradeValue } from './grade-record.ts'
import { krippendorffAlpha } from './krippendorff.ts'

/** One row for each observer, with `.` for what is missing. */
function unitsOf(rows: readonly string[], read: (word: string) => GradeValue) {
  const observers = rows.map((row) => row.split(' '))
  return (observers[0] ?? []).map((_, i) => ({
    task: `t${i}`,
    values: observers.flatMap((words) => (words[i] === '.' ? [] : [read(words[i] as string)])),
  }))
}

// The examples of Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011).
const TWO_BINARY = ['0 1 0 0 0 0 0 0 1 0', '1 1 1 0 0 1 0 0 0 0']
const TWO_NOMINAL = ['a a b b d c c c e d d a', 'b a b b b c c c e d d d']
const FOUR_WITH_GAPS = [
  '1 2 3 3 2 1 4 1 2 . . .',
  '1 2 3 3 2 2 4 1 2 5 . 3',
  '. 3 3 3 2 3 4 2 2 5 1 .',
  '1 2 3 3 2 4 4 1 2 5 1 .',
]

describe('krippendorffAlpha', () => {
  it('equals the published values', () => {
    const text = (word: string) => word
    expect(krippendorffAlpha(unitsOf(TWO_BINARY, (word) => word === '1')).value).toBeCloseTo(0.095, 3)
    expect(krippendorffAlpha(unitsOf(TWO_NOMINAL, text)).value).toBeCloseTo(0.692, 3)
    expect(krippendorffAlpha(unitsOf(FOUR_WITH_GAPS, text)).value).toBeCloseTo(0.743, 3)
    expect(krippendorffAlpha(unitsOf(FOUR_WITH_GAPS, Number)).value).toBeCloseTo(0.849, 3)
  })

  it('compares the disagreement within episodes with that of all pairs of values', () => {
    const label = fc.constantFrom('a', 'b', 'c')
    const score = fc.integer({ min: 0, max: 10 }).map((value) => value / 10)
    const unitsWith = <T>(value: fc.Arbitrary<T>) =>
      fc.array(fc.array(value, { maxLength: 4 }), { minLength: 1, maxLength: 12 })
    fc.assert(
      fc.property(fc.oneof(unitsWith(label), unitsWith(score)), (units: GradeValue[][]) => {
        const paired = units.filter((values) => values.length > 1)
        const distance = (a: GradeValue, b: GradeValue) =>
          typeof a === 'number' && typeof b === 'number' ? (a - b) ** 2 : Number(a !== b)
        const pairsOf = (values: readonly GradeValue[]) =>
          values.flatMap((a, i) => values.flatMap((b, j) => (i === j ? [] : [distance(a, b)])))
        const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
        const all = paired.flat()
        const within = sum(paired.map((values) => sum(pairsOf(values)) / (values.length - 1))) / all.length
        const between = sum(pairsOf(all)) / (all.length * (all.length - 1))
        const { value } = krippendorffAlpha(units.map((values, i) => ({ task: `${i}`, values })))
        if (between > 1e-9) expect(value).toBeCloseTo(1 - within / between, 9)
        else expect(value).toBeNull()
      }),
    )
  })

  it('has an interval by draws of tasks', () => {
    const { value, low, high } = krippendorffAlpha(unitsOf(TWO_NOMINAL, (word) => word))
    expect(low).toBeGreaterThan(0.2)
    expect(low).toBeLessThan(value as number)
    expect(high).toBeGreaterThan(value as number)
    expect(high).toBeLessThanOrEqual(1)
  })
})
