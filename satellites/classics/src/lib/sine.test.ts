import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cosine, sine } from './sine.ts'

describe('sine and cosine', () => {
  it('are those of the engine, but for rounding', () => {
    fc.assert(
      fc.property(fc.double({ min: -4, max: 4, noNaN: true }), (angle) => {
        expect(Math.abs(sine(angle) - Math.sin(angle))).toBeLessThan(3e-16)
        expect(Math.abs(cosine(angle) - Math.cos(angle))).toBeLessThan(3e-16)
      }),
      { numRuns: 5_000 },
    )
  })

  it('have known bits, on every engine', () => {
    let sum = 0
    for (let i = -400; i <= 400; i++) sum += sine(i / 100) * 3 + cosine(i / 100)
    expect(sum).toBe(-152.01288134285477)
  })

  it('reject angles that they do not reduce', () => {
    expect(() => sine(4.1)).toThrow(RangeError)
    expect(() => cosine(Number.NaN)).toThrow(RangeError)
  })
})
