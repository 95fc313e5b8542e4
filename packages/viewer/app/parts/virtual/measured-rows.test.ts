import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createMeasuredRows } from './virtual-list.tsx'

const count = 20
const height = fc.integer({ min: 1, max: 100 })
const measures = fc.array(fc.tuple(fc.nat(count - 1), height), { maxLength: 60 })

describe('createMeasuredRows', () => {
  it('sums the heights of rows, as they were measured last', () => {
    fc.assert(
      fc.property(measures, (measured) => {
        const rows = createMeasuredRows(count, 30)
        const heights = Array.from({ length: count }, () => 30)
        for (const [index, value] of measured) {
          expect(rows.measure(index, value)).toBe(heights[index] !== value)
          heights[index] = value
          const place = index % count
          expect(rows.offset(place)).toBe(heights.slice(0, place).reduce((sum, one) => sum + one, 0))
        }
        expect(rows.total).toBe(heights.reduce((sum, one) => sum + one, 0))
      }),
    )
  })

  it('finds the rows that are seen', () => {
    fc.assert(
      fc.property(measures, fc.nat(2_500), fc.nat(900), (measured, top, size) => {
        const rows = createMeasuredRows(count, 30)
        for (const [index, value] of measured) rows.measure(index, value)
        const { from, to } = rows.between(top, top + size)
        expect(from).toBeLessThan(to)
        if (top < rows.total) {
          expect(rows.offset(from)).toBeLessThanOrEqual(top)
          expect(rows.offset(from + 1)).toBeGreaterThan(top)
        }
        expect(rows.offset(to) > top + size || to === count).toBe(true)
      }),
    )
  })

  it('has no rows to find where there are none', () => {
    const rows = createMeasuredRows(0, 30)
    expect([rows.total, rows.between(0, 100), rows.measure(0, 3)]).toEqual([0, { from: 0, to: 0 }, false])
  })
})
