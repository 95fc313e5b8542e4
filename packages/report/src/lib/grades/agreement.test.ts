import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { computeAgreement, type JudgedTwice } from './agreement.ts'
import type { GradeValue } from './grade-record.ts'

/** Episodes of as many tasks as there are, unless tasks are given. */
function judgedAs(pairs: readonly (readonly [GradeValue, GradeValue])[], tasks = pairs.length): JudgedTwice[] {
  return pairs.map(([a, b], i) => ({ task: `t${i % tasks}`, attempt: Math.floor(i / tasks), try: 0, a, b }))
}

/** Episodes with the counts of a published table. */
function table(counts: readonly (readonly number[])[]): JudgedTwice[] {
  return judgedAs(
    counts.flatMap((row, a) => row.flatMap((count, b) => new Array<[string, string]>(count).fill([`${a}`, `${b}`]))),
  )
}

describe('computeAgreement', () => {
  it('is the κ of Cohen (1960): 200 diagnoses, 0.70 agree, 0.41 by chance', () => {
    const cohen = [
      [88, 14, 18],
      [10, 40, 10],
      [2, 6, 12],
    ]
    const { agree, kappa, episodes } = computeAgreement(table(cohen))
    expect(episodes).toBe(200)
    expect(agree.value).toBeCloseTo(0.7, 12)
    expect(kappa.value).toBeCloseTo(0.29 / 0.59, 12)
  })

  it('is the κ of Fleiss (1981), table 13.1: 0.89 agree, 0.66 by chance', () => {
    const fleiss = [
      [75, 1, 4],
      [5, 4, 1],
      [0, 0, 10],
    ]
    const { agree, kappa } = computeAgreement(table(fleiss))
    expect(agree.value).toBeCloseTo(0.89, 12)
    expect(kappa.value).toBeCloseTo((0.89 - 0.66) / 0.34, 12)
  })

  it('has the disagreement that all pairs of values have, of labels and of scores', () => {
    const labels = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('a', 'b', 'c')), { minLength: 1 })
    const score = fc.integer({ min: 0, max: 100 }).map((value) => value / 100)
    const scores = fc.array(fc.tuple(score, score), { minLength: 1 })
    fc.assert(
      fc.property(fc.oneof(labels, scores), (pairs: (readonly [GradeValue, GradeValue])[]) => {
        const distance = (a: GradeValue, b: GradeValue) =>
          typeof a === 'number' && typeof b === 'number' ? (a - b) ** 2 : Number(a !== b)
        const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
        const observed = meanOf(pairs.map(([a, b]) => distance(a, b)))
        const expected = meanOf(pairs.flatMap(([a]) => pairs.map(([, b]) => distance(a, b))))
        const { kappa } = computeAgreement(judgedAs(pairs, 3))
        if (expected < 1e-9) expect(kappa.value).toBeNull()
        else expect(kappa.value).toBeCloseTo(1 - observed / expected, 9)
      }),
    )
  })

  it('agrees on scores that differ by at most 0.1', () => {
    const { agree } = computeAgreement(
      judgedAs([
        [0.5, 0.6],
        [0.2, 0.3],
        [0.1, 0.31],
        [1, 1],
      ]),
    )
    expect(agree.value).toBe(0.75)
  })

  it('puts each episode into the cell of its two values', () => {
    const { values, matrix } = computeAgreement(
      judgedAs(
        [
          [true, true],
          [true, false],
          [false, false],
          [true, false],
        ],
        2,
      ),
    )
    expect(values).toEqual(['false', 'true'])
    const place = (task: string, attempt: number) => ({ task, attempt, try: 0 })
    expect(matrix).toEqual([
      [[place('t0', 1)], []],
      [[place('t1', 0), place('t1', 1)], [place('t0', 0)]],
    ])
    const scored = computeAgreement(
      judgedAs([
        [0, 1],
        [0.2, 0.59],
      ]),
    )
    expect(scored.matrix.map((row) => row.map((cell) => cell.length))).toEqual([
      [0, 0, 0, 0, 1],
      [0, 0, 1, 0, 0],
      [0, 0, 0, 0, 0],
      [0, 0, 0, 0, 0],
      [0, 0, 0, 0, 0],
    ])
  })

  it('has intervals that are the same at every call, hold the value, and are wider if the episodes of a task are alike', () => {
    const pairs = Array.from({ length: 80 }, (_, i): [boolean, boolean] => [i % 2 === 0, i % 2 === 0 && i % 10 !== 0])
    const alone = computeAgreement(judgedAs(pairs))
    expect(computeAgreement(judgedAs(pairs))).toEqual(alone)
    // Four episodes of each task, all with the same values.
    const alike = computeAgreement(
      Array.from({ length: 80 }, (_, i) => {
        const [a, b] = pairs[Math.floor(i / 4)] as [boolean, boolean]
        return { task: `t${Math.floor(i / 4)}`, attempt: i % 4, try: 0, a, b }
      }),
    )
    for (const { agree, kappa } of [alone, alike])
      for (const { value, low, high } of [agree, kappa]) {
        expect(low).toBeLessThan(value as number)
        expect(high).toBeGreaterThan(value as number)
      }
    expect(widthOf(alike.agree)).toBeGreaterThan(1.5 * widthOf(alone.agree))
  })

  it('defines no κ if both give one value alone, and no interval for one task', () => {
    const { agree, kappa } = computeAgreement(
      judgedAs(
        [
          [true, true],
          [true, true],
        ],
        1,
      ),
    )
    expect(agree).toEqual({ value: 1, low: null, high: null })
    expect(kappa).toEqual({ value: null, low: null, high: null })
    expect(computeAgreement([]).agree.value).toBeNull()
  })
})

function widthOf({ low, high }: { readonly low: number | null; readonly high: number | null }): number {
  return (high as number) - (low as number)
}
