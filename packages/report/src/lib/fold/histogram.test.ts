import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { histogramOf } from './histogram.ts'

describe('histogramOf', () => {
  it('counts every value once, in at most 41 bins that cover the values', () => {
    const anyValue = fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e6, max: 1e6 })
    fc.assert(
      fc.property(fc.array(anyValue, { minLength: 1, maxLength: 200 }), (values) => {
        const { start, width, counts } = histogramOf(Float64Array.from(values))
        expect(counts.reduce((a, b) => a + b, 0)).toBe(values.length)
        expect(counts.length).toBeLessThanOrEqual(41)
        const slack = 1e-6 * Math.max(width, Math.abs(start))
        expect(start).toBeLessThanOrEqual(Math.min(...values) + slack)
        expect(start + counts.length * width).toBeGreaterThanOrEqual(Math.max(...values) - slack)
      }),
      { examples: [[[0, 5e-324]], [[-5e-324, 1e6]], [[1e6, 1e6 + 2e-10]]] },
    )
  })

  it('puts a value on an edge in the bin that starts there', () => {
    const { start, width, counts } = histogramOf(Float64Array.of(0, 0.1, 0.3, 0.3, 1.9))
    expect([start, width]).toEqual([0, 0.05])
    expect([counts[0], counts[2], counts[6], counts[38]]).toEqual([1, 1, 2, 1])
  })

  it('has a bin for each whole number if they are few, and one bin for equal values', () => {
    expect(histogramOf(Float64Array.of(3, 5, 5), 1)).toEqual({ start: 3, width: 1, counts: [1, 0, 2] })
    expect(histogramOf(Float64Array.of(0.5, 0.5)).counts).toEqual([2])
    expect(histogramOf(Float64Array.of(0, Number.MIN_VALUE)).counts).toEqual([2])
    expect(histogramOf(new Float64Array()).counts).toEqual([])
  })
})
