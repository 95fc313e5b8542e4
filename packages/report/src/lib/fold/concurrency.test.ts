import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { concurrencyOf } from './concurrency.ts'

describe('concurrencyOf', () => {
  it('returns the mean in each bin, and the peak', () => {
    const concurrency = concurrencyOf(Float64Array.of(0, 60, 0), Float64Array.of(120, 120, 60))
    expect(concurrency).toEqual({ binMilliseconds: 1, inFlight: new Array(120).fill(2), peak: 2 })
  })

  it('sums up to the time spent in episodes', () => {
    const anyEpisode = fc.tuple(fc.integer({ min: 0, max: 10_000 }), fc.integer({ min: 1, max: 500 }))
    fc.assert(
      fc.property(fc.array(anyEpisode, { minLength: 1, maxLength: 50 }), (episodes) => {
        const started = Float64Array.from(episodes, ([start]) => start)
        const ended = Float64Array.from(episodes, ([start, lasted]) => start + lasted)
        const concurrency = concurrencyOf(started, ended)
        const spent = episodes.reduce((sum, [, lasted]) => sum + lasted, 0)
        const { inFlight = [], binMilliseconds = 0, peak = 0 } = concurrency ?? {}
        // Means have three decimals.
        expect(Math.abs(inFlight.reduce((a, b) => a + b, 0) * binMilliseconds - spent)).toBeLessThanOrEqual(
          0.06 * binMilliseconds + 1e-6,
        )
        expect(Math.max(...inFlight)).toBeLessThanOrEqual(peak + 0.001)
        expect(peak).toBeLessThanOrEqual(episodes.length)
      }),
    )
  })

  it('is null for a run that took no time', () => {
    expect(concurrencyOf(new Float64Array(), new Float64Array())).toBeNull()
    expect(concurrencyOf(Float64Array.of(5), Float64Array.of(5))).toBeNull()
  })
})
