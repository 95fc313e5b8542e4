import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Beginning } from './private-pairs.ts'
import { findToldStarts } from './told-start.ts'

/** As many beginnings as a check looks at. */
function beginnings(make: (i: number) => Pick<Beginning, 'public' | 'private'>): Beginning[] {
  return Array.from({ length: 48 }, (_, i) => ({
    ...make(i),
    seed: `${i}`,
    publicText: '',
    privateText: '',
    movable: true,
  }))
}

const draws = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 48, maxLength: 48 })

describe('findToldStarts', () => {
  it('finds a private value that is public as well', () => {
    const told = findToldStarts(beginnings((i) => ({ public: { day: 1, id: i * 7 }, private: { target: i * 7 } })))
    expect(told).toEqual([{ public: 'id', private: 'target' }])
  })

  it('finds a private value that a public one decides', () => {
    const told = findToldStarts(
      beginnings((i) => ({ public: { room: `room ${i % 6}` }, private: { key: ((i % 6) * 5) % 7 } })),
    )
    expect(told).toEqual([{ public: 'room', private: 'key' }])
  })

  it('finds nothing where the two are drawn apart', () => {
    fc.assert(
      fc.property(draws, draws, (open, hidden) => {
        fc.pre(new Set(hidden).size > 3 && open.join() !== hidden.join())
        const drawn = beginnings((i) => ({ public: { open: open[i] ?? 0 }, private: { hidden: hidden[i] ?? 0 } }))
        const agrees = new Map(open.map((value, i) => [value, hidden[i]]))
        fc.pre(open.some((value, i) => agrees.get(value) !== hidden[i]))
        expect(findToldStarts(drawn)).toEqual([])
      }),
    )
  })

  it('finds nothing where a public value never repeats, or a private one never changes', () => {
    expect(findToldStarts(beginnings((i) => ({ public: { id: i }, private: { key: i % 2 } })))).toEqual([])
    expect(findToldStarts(beginnings((i) => ({ public: { id: i % 3 }, private: { key: 1 } })))).toEqual([])
  })
})
