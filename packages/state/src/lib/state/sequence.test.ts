import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Sequence } from './sequence.ts'

const anyItems = fc
  .tuple(fc.nat(20_000), fc.integer({ min: 1, max: 999_983 }))
  .map(([length, step]) => Array.from({ length }, (_, i) => `item ${(i * step) % 1_000_003}`))
const anySplices = fc.array(
  fc.record({
    at: fc.nat(20_000),
    deleted: fc.oneof(fc.nat(3), fc.nat(2_000)),
    inserted: fc.oneof(fc.nat(3), fc.nat(500)),
  }),
  { minLength: 1, maxLength: 6 },
)

describe('Sequence', () => {
  it('has the items, and the pages that its items alone decide, whatever splices led to them', () => {
    fc.assert(
      fc.property(anyItems, anySplices, (items, splices) => {
        let sequence = Sequence.of(items)
        let plain: string[] = items
        for (const { at, deleted, inserted } of splices) {
          const start = at % (plain.length + 1)
          const fresh = Array.from({ length: inserted }, (_, i) => `new ${at} ${i}`)
          const gone = Math.min(deleted, plain.length - start)
          sequence = sequence.splice(start, gone, fresh)
          plain = plain.toSpliced(start, gone, ...fresh)
          expect(sequence.count).toBe(plain.length)
          expect(sequence.root.name).toBe(Sequence.of(plain).root.name)
        }
        expect(sequence.toArray()).toEqual(plain)
        for (const index of [0, plain.length >>> 1, plain.length - 1])
          if (index >= 0 && index < plain.length) expect(sequence.at(index)).toBe(plain[index])
      }),
      { numRuns: 40 },
    )
  })

  it('changes a few pages for an insertion in the middle of many', () => {
    const items = Array.from({ length: 50_000 }, (_, i) => `item ${i}`)
    const sequence = Sequence.of(items)
    const old = new Set(sequence.levels.flat().map(({ name }) => name))
    const changed = sequence
      .splice(25_000, 0, ['one more'])
      .levels.flat()
      .filter(({ name }) => !old.has(name))
    expect(changed.length).toBeLessThanOrEqual(12)
    expect(changed.reduce((sum, { text }) => sum + text.length, 0)).toBeLessThan(32_768)
  })
})
