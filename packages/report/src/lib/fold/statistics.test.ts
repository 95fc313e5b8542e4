import fc from 'fast-check'
import { mean, quantile as otherQuantile, sampleStandardDeviation, sum } from 'simple-statistics'
import { describe, expect, it } from 'vitest'
import { clusteredMean, passAtK, passHatK, quantile } from './statistics.ts'

describe('clusteredMean', () => {
  it('is the ordinary standard error s/√n if each value is its own cluster', () => {
    const estimate = clusteredMean([1, 2, 3, 4], [0, 1, 2, 3])
    expect(estimate).toMatchObject({ mean: 2.5, count: 4, clusters: 4 })
    expect(estimate?.standardError).toBeCloseTo(Math.sqrt(5 / 3) / 2, 12)
    // t for 3 degrees of freedom.
    expect(estimate?.low).toBeCloseTo(2.5 - 3.182446 * 0.645497, 5)
    expect(estimate?.high).toBeCloseTo(2.5 + 3.182446 * 0.645497, 5)
  })

  it('sums deviations within a cluster first (worked by hand)', () => {
    // Deviations −1.5 −0.5 | 0.5 1.5 sum to −2 and 2, so √(2/1 · 8) / 4 = 1.
    expect(clusteredMean([1, 2, 3, 4], [0, 0, 1, 1])?.standardError).toBeCloseTo(1, 12)
  })

  it('is the ordinary error of the clusters’ sums, each less what the mean gives it', () => {
    const clusters = fc.array(fc.array(fc.integer({ min: -100, max: 100 }), { minLength: 1, maxLength: 6 }), {
      minLength: 2,
      maxLength: 20,
    })
    fc.assert(
      fc.property(clusters, (groups) => {
        const values = groups.flat()
        const estimate = clusteredMean(
          values,
          groups.flatMap((group, i) => group.map(() => i)),
        )
        const size = values.length / groups.length
        const residuals = groups.map((group) => (sum(group) - group.length * mean(values)) / size)
        expect(estimate?.mean).toBeCloseTo(mean(values), 9)
        expect(estimate?.standardError).toBeCloseTo(sampleStandardDeviation(residuals) / Math.sqrt(groups.length), 9)
      }),
    )
  })

  it('has no interval if no task deviates, despite rounding', () => {
    for (const values of [
      [1, 4, 2, 3],
      [0.1, 0.2, 0.2, 0.1],
      [1 / 3, 1 / 3, 1 / 3, 1 / 3],
      [0, 0, 0, 0],
    ])
      expect(clusteredMean(values, [0, 0, 1, 1])).toMatchObject({ standardError: 0, low: null, high: null })
  })

  it('does not narrow if every value is repeated', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -100, max: 100 }), { minLength: 2, maxLength: 30 }), (values) => {
        const once = clusteredMean(values, [...values.keys()])
        const twice = clusteredMean(
          values.flatMap((value) => [value, value]),
          [...values.keys()].flatMap((i) => [i, i]),
        )
        expect(twice?.standardError).toBeCloseTo(once?.standardError as number, 9)
      }),
    )
  })

  it('has no interval for one cluster, and is null without values', () => {
    expect(clusteredMean([1, 2], [7, 7])).toMatchObject({ mean: 1.5, standardError: null, low: null, high: null })
    expect(clusteredMean([], [])).toBeNull()
  })
})

describe('passAtK', () => {
  it('is the share of all choices of k attempts with a success', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), fc.nat(9), fc.integer({ min: 1, max: 9 }), (count, some, k) => {
        fc.pre(k <= count)
        const successes = Math.min(some, count)
        const choices = Array.from({ length: 2 ** count }, (_, bits) => bits).filter((bits) => bitsIn(bits) === k)
        const passing = choices.filter((bits) => (bits & (2 ** successes - 1)) !== 0)
        expect(passAtK(count, successes, k)).toBeCloseTo(passing.length / choices.length, 12)
      }),
    )
  })

  it('does not overflow, and needs enough attempts', () => {
    expect(passAtK(100_000, 1, 50_000)).toBeCloseTo(0.5, 9)
    expect(() => passAtK(3, 1, 4)).toThrow(RangeError)
    expect(() => passAtK(3, 1, 0)).toThrow(RangeError)
  })
})

describe('passHatK', () => {
  it('is the share of all choices of k attempts that all succeed', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), fc.nat(9), fc.integer({ min: 1, max: 9 }), (count, some, k) => {
        fc.pre(k <= count)
        const successes = Math.min(some, count)
        const choices = Array.from({ length: 2 ** count }, (_, bits) => bits).filter((bits) => bitsIn(bits) === k)
        const passing = choices.filter((bits) => (bits & ~(2 ** successes - 1)) === 0)
        expect(passHatK(count, successes, k)).toBeCloseTo(passing.length / choices.length, 12)
      }),
    )
    expect([passHatK(5, 3, 2), passHatK(5, 3, 4)]).toEqual([expect.closeTo(3 / 10, 12), 0])
  })
})

describe('quantile', () => {
  it('agrees with R’s default, type 7', () => {
    const values = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    expect(quantile(values, 0.25)).toBe(3.25)
    expect(quantile(values, 0.5)).toBe(5.5)
    expect(quantile(values, 0.9)).toBeCloseTo(9.1, 12)
    expect([quantile(values, 0), quantile(values, 1), quantile([7], 0.3)]).toEqual([1, 10, 7])
    expect(() => quantile([], 0.5)).toThrow(RangeError)
  })

  it('agrees with another implementation about medians', () => {
    fc.assert(
      fc.property(fc.array(fc.integer(), { minLength: 1 }), (values) => {
        const sorted = values.toSorted((a, b) => a - b)
        expect(quantile(sorted, 0.5)).toBeCloseTo(otherQuantile(sorted, 0.5), 6)
      }),
    )
  })
})

function bitsIn(bits: number): number {
  return bits.toString(2).replaceAll('0', '').length
}
