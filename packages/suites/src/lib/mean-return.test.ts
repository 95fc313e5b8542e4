import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { agrees, meanReturn, scoreOf } from './mean-return.ts'

const anyReturns = fc.array(fc.integer({ min: -100, max: 100 }), { minLength: 2, maxLength: 60 })
const interval = (value: number) => ({ value, tolerance: 'interval' as const, source: 'a book' })

describe('meanReturn', () => {
  it('has an interval around the mean, in any order of the episodes', () => {
    fc.assert(
      fc.property(anyReturns, (returns) => {
        const mean = meanReturn(returns)
        expect(mean?.mean).toBeCloseTo(returns.reduce((sum, value) => sum + value, 0) / returns.length, 9)
        expect(mean?.low).toBeLessThanOrEqual(mean?.mean as number)
        expect(mean?.high).toBeGreaterThanOrEqual(mean?.mean as number)
        expect(meanReturn(returns.toReversed())).toEqual(mean)
      }),
    )
  })

  it('is the mean and Student’s t of returns that are no shares', () => {
    // s = √(10/4), and t = 8.610 for 4 degrees of freedom and 99.9 %.
    const mean = meanReturn([1, 2, 3, 4, 5])
    expect(mean?.mean).toBe(3)
    expect(mean?.high).toBeCloseTo(3 + 8.61 * Math.sqrt(2.5 / 5), 2)
  })

  it('has a width for a share without any success, and none for equal returns of other sizes', () => {
    expect(meanReturn(Array(1_000).fill(0))).toMatchObject({ mean: 0, low: 0, high: expect.closeTo(0.01071, 4) })
    expect(meanReturn(Array(1_000).fill(7.5))).toEqual({ mean: 7.5, low: 7.5, high: 7.5 })
  })

  it('is null for fewer than two episodes', () => {
    expect([meanReturn([]), meanReturn([1])]).toEqual([null, null])
  })
})

describe('agrees', () => {
  it('holds for values in the interval, and for a tolerance beyond it', () => {
    const mean = { mean: 5, low: 4, high: 6 }
    expect([3.9, 4, 5, 6, 6.1].map((value) => agrees(mean, interval(value)))).toEqual([false, true, true, true, false])
    expect(agrees(mean, { ...interval(6.1), tolerance: 0.2 })).toBe(true)
  })

  it('allows for the rounding of sums, and for no more', () => {
    const sum = 10 + 2 - 0.1 * 3
    expect(agrees({ mean: sum, low: sum, high: sum }, interval(11.7))).toBe(true)
    expect(agrees({ mean: sum, low: sum, high: sum }, interval(11.700_001))).toBe(false)
  })
})

describe('scoreOf', () => {
  it('is 0 for random play and 1 for the best, and keeps the order, whatever the anchors', () => {
    fc.assert(
      fc.property(anyReturns, fc.integer({ min: -99, max: 99 }), (returns, random) => {
        const anchors = { random, optimum: random + 7 }
        const mean = meanReturn(returns) as NonNullable<ReturnType<typeof meanReturn>>
        const score = scoreOf(mean, anchors)
        expect(score?.mean).toBeCloseTo((mean.mean - random) / 7, 9)
        expect(score?.low).toBeLessThanOrEqual(score?.high as number)
        const at = (value: number) => scoreOf({ mean: value, low: value, high: value }, anchors)?.mean
        expect([at(random), at(random + 7)]).toEqual([0, 1])
      }),
    )
  })

  it('is null without both anchors', () => {
    expect(scoreOf({ mean: 1, low: 0, high: 2 }, { random: null, optimum: 3 })).toBeNull()
  })
})
