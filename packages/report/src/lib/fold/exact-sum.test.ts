import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { exactSum } from './exact-sum.ts'

const anyValue = fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e290, max: 1e290 })

describe('exactSum', () => {
  it('keeps the digits that a running sum loses', () => {
    expect(exactSum([])).toBe(0)
    expect(exactSum(new Array(10).fill(0.1))).toBe(1)
    expect(exactSum([1e100, 1, -1e100])).toBe(1)
  })

  it('rounds once, to the nearest float (cases from the tests of Python’s math.fsum)', () => {
    expect(exactSum([2 ** 53, -0.5, -(2 ** -54)])).toBe(2 ** 53 - 1)
    expect(exactSum([2 ** 53, 1, 2 ** -100])).toBe(2 ** 53 + 2)
    expect(exactSum([1e16, 1, 1e-16])).toBe(10_000_000_000_000_002)
    expect(exactSum(Array.from({ length: 1_000 }, (_, i) => 1 / (i + 1)))).toBe(7.485470860550345)
    expect(exactSum(Array.from({ length: 1_000 }, (_, i) => (-1) ** (i + 1) / (i + 1)))).toBe(-0.6926474305598203)
  })

  it('is the same for any order, and 0 for values that cancel', () => {
    fc.assert(
      fc.property(
        fc
          .array(anyValue)
          .chain((values) => fc.tuple(fc.constant(values), fc.shuffledSubarray(values, { minLength: values.length }))),
        ([values, shuffled]) => {
          expect(exactSum(shuffled)).toBe(exactSum(values))
          expect(exactSum([...values, ...shuffled.map((value) => -value)])).toBe(0)
        },
      ),
    )
  })
})
