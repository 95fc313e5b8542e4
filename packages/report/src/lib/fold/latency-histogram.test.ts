import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createLatencyHistogram } from './latency-histogram.ts'

describe('createLatencyHistogram', () => {
  it('is never below the exact percentile and at most 0.8 % (or half a microsecond) above it', () => {
    const anyMilliseconds = fc.double({ noNaN: true, min: 0, max: 4e6 })
    fc.assert(
      fc.property(
        fc.array(anyMilliseconds, { minLength: 1, maxLength: 300 }),
        fc.double({ noNaN: true, min: 0.01, max: 1 }),
        (all, p) => {
          const histogram = createLatencyHistogram()
          for (const milliseconds of all) histogram.add(milliseconds)
          const exact = all.toSorted((a, b) => a - b)[Math.ceil(p * all.length) - 1] as number
          const reported = histogram.percentile(p)
          expect(reported).toBeGreaterThanOrEqual(exact - 0.000_501)
          expect(reported).toBeLessThanOrEqual(exact * (1 + 1 / 128) + 0.000_501)
          expect(histogram.longest).toBe(Math.max(...all))
          expect(histogram.bins().reduce((sum, { count }) => sum + count, 0)).toBe(all.length)
        },
      ),
    )
  })

  it('returns adjacent bins from the first non-empty one to the last', () => {
    const histogram = createLatencyHistogram()
    for (const milliseconds of [1.024, 4.096]) histogram.add(milliseconds)
    const bins = histogram.bins()
    expect(bins).toHaveLength(9)
    expect(bins[0]).toEqual({ from: 1.024, to: 1.218, count: 1 })
    expect(bins.at(-1)).toMatchObject({ from: 4.096, count: 1 })
    for (let i = 1; i < bins.length; i++) expect(bins[i]?.from).toBe(bins[i - 1]?.to)
  })

  it('is 0 and has no bins if empty', () => {
    const histogram = createLatencyHistogram()
    expect([histogram.count, histogram.longest, histogram.percentile(0.5), histogram.bins()]).toEqual([0, 0, 0, []])
  })
})
