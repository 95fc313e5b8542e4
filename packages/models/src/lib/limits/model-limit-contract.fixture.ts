import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ModelLimit, ModelRates } from './model-limit.ts'

/**
 * Tests of what each {@link ModelLimit} promises. `create` returns an empty one that reads this clock, in milliseconds.
 */
export function describeModelLimit(name: string, create: (now: () => number) => ModelLimit): void {
  const rates = (requestsPerMinute: number | null, tokensPerMinute: number | null = null): ModelRates => ({
    requestsPerMinute,
    tokensPerMinute,
  })
  const open = () => {
    const clock = { now: 1_700_000_000_000 }
    return { clock, limit: create(() => clock.now) }
  }

  describe(name, () => {
    it('spreads requests evenly, in the order in which they were asked for', async () => {
      const { limit, clock } = open()
      const waits = async (count: number) => {
        const all: number[] = []
        for (let i = 0; i < count; i++) all.push(await limit.reserve('m', rates(60), 0))
        return all
      }
      expect(await waits(3)).toEqual([0, 1_000, 2_000])
      clock.now += 2_500
      expect(await waits(2)).toEqual([500, 1_500])
      // Unused time is not saved up.
      clock.now += 600_000
      expect(await waits(2)).toEqual([0, 1_000])
    })

    it('never gives a minute more turns than the limit', async () => {
      const anyWaits = fc.array(fc.integer({ min: 0, max: 5_000 }), { minLength: 1, maxLength: 60 })
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 1, max: 40 }), anyWaits, async (perMinute, pauses) => {
          const { limit, clock } = open()
          const turns: number[] = []
          for (const passed of pauses) {
            clock.now += passed
            turns.push(clock.now + (await limit.reserve('m', rates(perMinute), 0)))
          }
          for (const [i, turn] of turns.entries()) {
            // A thousandth of a millisecond a turn is lost to rounding.
            const end = turn + 60_000 - 1
            expect(turns.slice(i).filter((other) => other < end).length).toBeLessThanOrEqual(perMinute)
          }
        }),
        { numRuns: 25 },
      )
    })

    it('waits after a request for as long as its tokens take', async () => {
      const { limit, clock } = open()
      expect(await limit.reserve('m', rates(null, 6_000), 500)).toBe(0)
      expect(await limit.reserve('m', rates(null, 6_000), 100)).toBe(5_000)
      clock.now += 5_000
      expect(await limit.reserve('m', rates(null, 6_000), 0)).toBe(1_000)
    })

    it('counts the tokens of an answer instead of the estimate', async () => {
      const { limit } = open()
      await limit.reserve('m', rates(null, 6_000), 500)
      await limit.correct('m', rates(null, 6_000), 100)
      expect(await limit.reserve('m', rates(null, 6_000), 0)).toBe(6_000)
      await limit.correct('m', rates(null, 6_000), -400)
      expect(await limit.reserve('m', rates(null, 6_000), 0)).toBe(2_000)
    })

    it('gives no turn within a pause, and begins anew after it', async () => {
      const { limit, clock } = open()
      expect(await limit.pausedFor('m')).toBe(0)
      await limit.pause('m', 20_000)
      await limit.pause('m', 5_000)
      expect(await limit.pausedFor('m')).toBe(20_000)
      expect(await limit.reserve('m', rates(null), 0)).toBe(20_000)
      expect(await limit.reserve('m', rates(60), 0)).toBe(20_000)
      expect(await limit.reserve('m', rates(60), 0)).toBe(21_000)
      clock.now += 20_000
      expect(await limit.pausedFor('m')).toBe(0)
      expect(await limit.reserve('m', rates(null), 0)).toBe(0)
    })

    it('limits each model apart, and no one without a limit', async () => {
      const { limit } = open()
      await limit.reserve('m', rates(1, 1), 1)
      expect(await limit.reserve('other', rates(1, 1), 1)).toBe(0)
      expect(await limit.reserve('m', rates(null), 1)).toBe(0)
      expect(await limit.reserve('m', rates(1), 1)).toBe(60_000)
      expect(await limit.reserve('m', rates(null, 1), 1)).toBe(60_000)
    })
  })
}
