import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findInitialStateLeaks, type StartParts } from './initial-state-leaks.ts'

/** As many initial states as a check examines. */
function startsOf(make: (i: number) => StartParts): StartParts[] {
  return Array.from({ length: 48 }, (_, i) => make(i))
}

/** Whether the second column is a function of the first. */
function isFunction(from: readonly number[], to: readonly number[]): boolean {
  const known = new Map(from.map((value, i) => [value, to[i]]))
  return from.every((value, i) => known.get(value) === to[i])
}

const draws = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 48, maxLength: 48 })

describe('findInitialStateLeaks', () => {
  it('finds a private value that is also public', () => {
    const leaks = findInitialStateLeaks(
      startsOf((i) => ({ public: { day: 1, id: i * 7 }, private: { target: i * 7 } })),
    )
    expect(leaks).toEqual([{ feature: 'public.id', private: 'target', reveals: 'all' }])
  })

  it('finds a private value that a public one determines', () => {
    const leaks = findInitialStateLeaks(
      startsOf((i) => ({ public: { room: `room ${i % 6}` }, private: { key: ((i % 6) * 5) % 7 } })),
    )
    expect(leaks).toEqual([{ feature: 'public.room', private: 'key', reveals: 'all' }])
  })

  it('finds a private value that several public ones determine together', () => {
    const leaks = findInitialStateLeaks(
      startsOf((i) => ({ public: { bits: [i & 1, (i >> 1) & 1, (i >> 2) & 1] }, private: { key: i & 7 } })),
    )
    expect(leaks).toEqual([{ feature: 'public.bits', private: 'key', reveals: 'all' }])
  })

  it('finds a private value that determines the order of an array or of keys, or a length', () => {
    const list = findInitialStateLeaks(
      startsOf((i) => ({
        public: { shelf: [0, 4, 8].sort((a, b) => Math.abs(a - (i % 9)) - Math.abs(b - (i % 9))) },
        private: { key: i % 9 },
      })),
    )
    expect(list).toContainEqual({ feature: 'the order of public.shelf', private: 'key', reveals: 'order' })
    const keys = findInitialStateLeaks(
      startsOf((i) => ({ public: i % 9 < 4 ? { a: 1, b: 1 } : { b: 1, a: 1 }, private: { key: i % 9 } })),
    )
    expect(keys).toEqual([{ feature: 'the order of the keys of public', private: 'key', reveals: 'order' }])
    const length = findInitialStateLeaks(
      startsOf((i) => ({ public: { letters: '_'.repeat(4 + (i % 3)) }, private: { word: `word ${i % 9}` } })),
    )
    expect(length).toEqual([{ feature: 'public.letters', private: 'word', reveals: 'part' }])
  })

  it('finds nothing if the two are independent', () => {
    fc.assert(
      fc.property(draws, draws, (open, hidden) => {
        fc.pre(new Set(hidden).size > 3 && open.join() !== hidden.join())
        const drawn = startsOf((i) => ({ public: { open: open[i] ?? 0 }, private: { hidden: hidden[i] ?? 0 } }))
        fc.pre(!isFunction(open, hidden) && !isFunction(hidden, open))
        expect(findInitialStateLeaks(drawn)).toEqual([])
      }),
    )
  })

  it('finds nothing if a public value never repeats or a private one never changes', () => {
    expect(findInitialStateLeaks(startsOf((i) => ({ public: { id: i }, private: { key: i % 2 } })))).toEqual([])
    expect(findInitialStateLeaks(startsOf((i) => ({ public: { id: i % 3 }, private: { key: 1 } })))).toEqual([])
  })
})
