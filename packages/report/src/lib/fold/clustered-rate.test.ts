import fc from 'fast-check'
import { sampleVariance } from 'simple-statistics'
import { describe, expect, it } from 'vitest'
import { createRate } from './clustered-rate.ts'

/** Folds the rate of clusters, each a list of 0 and 1. */
function rateOf(clusters: readonly (readonly number[])[]) {
  const rate = createRate()
  for (const [number, outcomes] of clusters.entries()) for (const outcome of outcomes) rate.add(number, outcome === 1)
  return rate.finish()
}
const outcomes = (successes: number, count: number) => Array.from({ length: count }, (_, i) => Number(i < successes))
const apart = (successes: number, count: number) => outcomes(successes, count).map((outcome) => [outcome])
const someClusters = fc.array(fc.array(fc.constantFrom(0, 1), { minLength: 1, maxLength: 6 }), {
  minLength: 2,
  maxLength: 25,
})

describe('createRate', () => {
  it.each([
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ])(
    'is Wilson’s interval with one episode a task: Newcombe (1998), table I, for %i of %i',
    (won, count, low, high) => {
      const interval = rateOf(apart(won, count))
      expect(interval.low).toBeCloseTo(low, 4)
      expect(interval.high).toBeCloseTo(high, 4)
    },
  )

  it('is the score interval of as many independent draws as would vary as much', () => {
    const clusters = Array.from({ length: 130 }, (_, i) => outcomes([4, 0, 1, 3, 2, 2, 4][i % 7] as number, 4))
    const { rate, low, high, count } = rateOf(clusters) as { rate: number; low: number; high: number; count: number }
    // With clusters of one size, the mean's variance is that of the clusters' own rates.
    const variance = sampleVariance(clusters.map((cluster) => cluster.reduce((a, b) => a + b) / 4)) / 130
    const draws = (rate * (1 - rate)) / variance
    // Wilson's bounds are the rates from which the one seen is just 1.96 standard errors away.
    for (const bound of [low, high])
      expect(Math.abs(rate - bound) / Math.sqrt((bound * (1 - bound)) / draws)).toBeCloseTo(1.96, 1)
    expect(draws).toBeLessThan(count)
  })

  it('lies between counting every episode and counting every task once', () => {
    fc.assert(
      fc.property(someClusters, (clusters) => {
        const { low, high, rate, count } = rateOf(clusters) as {
          low: number
          high: number
          rate: number
          count: number
        }
        expect(low).toBeGreaterThanOrEqual(0)
        expect(high).toBeLessThanOrEqual(1)
        expect(low).toBeLessThanOrEqual(rate)
        expect(high).toBeGreaterThanOrEqual(rate)
        const independent = rateOf(apart(Math.round(rate * count), count)) as { low: number; high: number }
        expect(high - low).toBeGreaterThanOrEqual(independent.high - independent.low - 1e-12)
        expect(high - low).toBeLessThan(1)
      }),
    )
  })

  it('gains nothing from repetitions of a deterministic task', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(0, 1), { minLength: 2, maxLength: 30 }),
        fc.integer({ min: 2, max: 9 }),
        (won, times) => {
          const repeated = rateOf(won.map((outcome) => new Array<number>(times).fill(outcome)))
          const once = rateOf(won.map((outcome) => [outcome]))
          expect(repeated.low).toBeCloseTo(once.low as number, 9)
          expect(repeated.high).toBeCloseTo(once.high as number, 9)
        },
      ),
    )
  })

  it('has a width if all succeed or all tasks have the same share, and none for fewer than two tasks', () => {
    const sure = rateOf(Array.from({ length: 10 }, () => [1, 1, 1]))
    expect([sure.low, sure.high]).toEqual([expect.closeTo(0.7225, 4), 1])
    const same = rateOf([
      [1, 0],
      [0, 1],
      [1, 0],
    ])
    expect(same.high as number).toBeGreaterThan(0.6)
    expect(rateOf([[1, 1, 0]])).toEqual({ successes: 2, count: 3, clusters: 1, rate: 2 / 3, low: null, high: null })
    expect(rateOf([])).toEqual({ successes: 0, count: 0, clusters: 0, rate: null, low: null, high: null })
  })
})
