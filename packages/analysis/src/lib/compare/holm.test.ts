import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { adjustByHolm } from './holm.ts'

describe('adjustByHolm', () => {
  it('gives the values of the paper’s procedure', () => {
    // R: p.adjust(c(0.01, 0.04, 0.03, 0.005), method = "holm")
    expect(adjustByHolm([0.01, 0.04, 0.03, 0.005])).toEqual([0.03, 0.06, 0.06, 0.02].map((p) => expect.closeTo(p, 12)))
    expect(adjustByHolm([])).toEqual([])
  })

  it('keeps the order, is never below the given value and never above Bonferroni’s', () => {
    const anyValues = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 8 })
    fc.assert(
      fc.property(anyValues, (values) => {
        const adjusted = adjustByHolm(values)
        adjusted.forEach((p, i) => {
          const value = values[i] as number
          expect(p).toBeGreaterThanOrEqual(value)
          expect(p).toBeLessThanOrEqual(Math.min(1, values.length * value) + 1e-12)
          values.forEach((other, j) => {
            if (other < value) expect(adjusted[j]).toBeLessThanOrEqual(p)
          })
        })
      }),
    )
  })
})
