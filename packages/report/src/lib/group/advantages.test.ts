import fc from 'fast-check'
import { mean, standardDeviation } from 'simple-statistics'
import { describe, expect, it } from 'vitest'
import { advantagesOf } from './advantages.ts'

const returns = fc.array(fc.option(fc.integer({ min: -1_000, max: 1_000 }).map((value) => value / 8)), {
  maxLength: 12,
})

describe('advantagesOf', () => {
  it('standardizes the returns that are there', () => {
    fc.assert(
      fc.property(returns, (group) => {
        const known = group.filter((value) => value !== null)
        const found = advantagesOf(group)
        if (known.length === 0) {
          expect(found).toBeNull()
          return
        }
        expect(found?.mean).toBeCloseTo(mean(known), 9)
        expect(found?.deviation).toBeCloseTo(standardDeviation(known), 9)
        const advantages = found?.advantages ?? []
        expect(advantages.map((value) => value === null)).toEqual(group.map((value) => value === null))
        const scores = advantages.filter((value) => value !== null)
        expect(mean(scores)).toBeCloseTo(0, 9)
        expect(standardDeviation(scores)).toBeCloseTo(new Set(known).size > 1 ? 1 : 0, 9)
      }),
    )
  })

  it('finds no variance in returns that differ by rounding', () => {
    expect(advantagesOf([0.1 + 0.2, 0.3, 0.3])).toMatchObject({ deviation: 0, advantages: [0, 0, 0] })
  })
})
