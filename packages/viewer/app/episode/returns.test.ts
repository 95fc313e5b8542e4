import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { notableSteps, runningReturns } from './episode-model.ts'

const step = (total: number, refused: string | null = null) => ({ reward: { total, terms: {}, shaping: 0 }, refused })

describe('runningReturns', () => {
  it('divides the return at every step', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -9, max: 9 })), (totals) => {
        const all = totals.reduce((sum, total) => sum + total, 0)
        runningReturns(totals.map((total) => step(total))).forEach(({ sum, toGo }, i) => {
          expect(sum + toGo - (totals[i] ?? 0)).toBe(all)
        })
      }),
    )
  })
})

describe('notableSteps', () => {
  it('finds changes of the reward, and refusals', () => {
    expect(notableSteps([step(-1), step(-1), step(-1, 'rules'), step(2), step(-1)])).toEqual([0, 2, 3, 4])
    expect(notableSteps([step(0), step(0)])).toEqual([])
  })
})
