import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Beginning } from '../private-pairs.ts'
import { findToldStarts } from './initial-observation.ts'

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

/** Whether equal numbers of the one always come with equal numbers of the other. */
function isFunction(from: readonly number[], to: readonly number[]): boolean {
  const known = new Map(from.map((value, i) => [value, to[i]]))
  return from.every((value, i) => known.get(value) === to[i])
}

const draws = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 48, maxLength: 48 })

describe('findToldStarts', () => {
  it('finds a private value that is public as well', () => {
    const told = findToldStarts(beginnings((i) => ({ public: { day: 1, id: i * 7 }, private: { target: i * 7 } })))
    expect(told).toEqual([{ reading: 'public.id', private: 'target', tells: 'all' }])
  })

  it('finds a private value that a public one decides', () => {
    const told = findToldStarts(
      beginnings((i) => ({ public: { room: `room ${i % 6}` }, private: { key: ((i % 6) * 5) % 7 } })),
    )
    expect(told).toEqual([{ reading: 'public.room', private: 'key', tells: 'all' }])
  })

  it('finds a private value that several public ones decide together', () => {
    const told = findToldStarts(
      beginnings((i) => ({ public: { bits: [i & 1, (i >> 1) & 1, (i >> 2) & 1] }, private: { key: i & 7 } })),
    )
    expect(told).toEqual([{ reading: 'public.bits', private: 'key', tells: 'all' }])
  })

  it('finds a private value that decides the order of a list or of keys, or a length', () => {
    const list = findToldStarts(
      beginnings((i) => ({
        public: { shelf: [0, 4, 8].sort((a, b) => Math.abs(a - (i % 9)) - Math.abs(b - (i % 9))) },
        private: { key: i % 9 },
      })),
    )
    expect(list).toContainEqual({ reading: 'the order of public.shelf', private: 'key', tells: 'order' })
    const keys = findToldStarts(
      beginnings((i) => ({ public: i % 9 < 4 ? { a: 1, b: 1 } : { b: 1, a: 1 }, private: { key: i % 9 } })),
    )
    expect(keys).toEqual([{ reading: 'the order of the keys of public', private: 'key', tells: 'order' }])
    const length = findToldStarts(
      beginnings((i) => ({ public: { letters: '_'.repeat(4 + (i % 3)) }, private: { word: `word ${i % 9}` } })),
    )
    expect(length).toEqual([{ reading: 'public.letters', private: 'word', tells: 'part' }])
  })

  it('finds nothing where the two are drawn apart', () => {
    fc.assert(
      fc.property(draws, draws, (open, hidden) => {
        fc.pre(new Set(hidden).size > 3 && open.join() !== hidden.join())
        const drawn = beginnings((i) => ({ public: { open: open[i] ?? 0 }, private: { hidden: hidden[i] ?? 0 } }))
        fc.pre(!isFunction(open, hidden) && !isFunction(hidden, open))
        expect(findToldStarts(drawn)).toEqual([])
      }),
    )
  })

  it('finds nothing where a public value never repeats, or a private one never changes', () => {
    expect(findToldStarts(beginnings((i) => ({ public: { id: i }, private: { key: i % 2 } })))).toEqual([])
    expect(findToldStarts(beginnings((i) => ({ public: { id: i % 3 }, private: { key: 1 } })))).toEqual([])
  })
})
