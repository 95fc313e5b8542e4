import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { returnsOf } from './returns.ts'

const anySteps = fc.array(
  fc
    .record({ raw: fc.double({ min: -9, max: 9, noNaN: true }), shaping: fc.double({ min: -9, max: 9, noNaN: true }) })
    .map(({ raw, shaping }) => ({ reward: { total: raw + shaping, terms: { raw }, shaping } })),
  { maxLength: 30 },
)
const anyDiscount = fc.double({ min: 0, max: 1, noNaN: true })

describe('returnsOf', () => {
  it('is what an agent that looks back from the end would add up', () => {
    fc.assert(
      fc.property(anySteps, anyDiscount, (steps, discount) => {
        const backwards = steps.reduceRight((later, { reward }) => reward.total + discount * later, 0)
        expect(returnsOf(steps, discount).discounted).toBeCloseTo(backwards, 8)
      }),
    )
  })

  it('is the plain sum at discount 1, and the first reward at discount 0', () => {
    fc.assert(
      fc.property(anySteps, (steps) => {
        const { total, discounted } = returnsOf(steps, 1)
        expect(discounted).toBe(total)
        expect(returnsOf(steps, 0).discounted).toBe(steps[0]?.reward.total ?? 0)
      }),
    )
  })

  it('returns the unshaped return', () => {
    fc.assert(
      fc.property(anySteps, anyDiscount, (steps, discount) => {
        const raw = steps.reduce((sum, { reward }) => sum + reward.terms.raw, 0)
        expect(returnsOf(steps, discount).unshaped).toBeCloseTo(raw, 8)
      }),
    )
  })
})
