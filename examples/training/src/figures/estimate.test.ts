import { describe, expect, it } from 'vitest'
import { estimateOf } from './estimate.ts'

describe('estimateOf', () => {
  it('gives the mean, and the interval by Student’s t', () => {
    const { mean, low, high } = estimateOf([1, 2, 3, 4, 5])
    expect(mean).toBe(3)
    expect(high - 3).toBeCloseTo(1.963, 3)
    expect(3 - low).toBeCloseTo(1.963, 3)
  })

  it('refuses one seed, which has no interval', () => {
    expect(() => estimateOf([1])).toThrow('An interval needs at least 2 seeds; there are 1.')
  })
})
