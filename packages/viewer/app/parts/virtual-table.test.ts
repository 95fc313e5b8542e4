import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rangeAt } from './virtual-table.tsx'

describe('rangeAt', () => {
  it('holds every row that is seen, and a bounded number of others', () => {
    fc.assert(
      fc.property(fc.nat(3_000_000), fc.nat(3_000), fc.nat(100_000), (top, height, count) => {
        const { first, last } = rangeAt(top, height, 29, count)
        expect(first).toBeGreaterThanOrEqual(0)
        expect(last).toBeGreaterThanOrEqual(first)
        expect(last).toBeLessThanOrEqual(count)
        expect(last - first).toBeLessThanOrEqual(Math.ceil(height / 29) + 1 + 2 * 12)
        const seen = [Math.floor(top / 29), Math.ceil((top + height) / 29) - 1]
        for (const row of seen.filter((one) => one >= 0 && one < count && height > 0)) {
          expect(row).toBeGreaterThanOrEqual(first)
          expect(row).toBeLessThan(last)
        }
      }),
    )
  })
})
