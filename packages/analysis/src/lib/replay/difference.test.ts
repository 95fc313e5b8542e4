import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findDifference } from './difference.ts'

const anyJson = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)))

describe('findDifference', () => {
  it('finds none between a value and its copy, in any order of keys', () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        expect(findDifference(value, structuredClone(value))).toBeNull()
        expect(findDifference(value, reversed(value))).toBeNull()
      }),
    )
  })

  it('finds one between any two values with different JSON', () => {
    fc.assert(
      fc.property(anyJson, anyJson, (one, other) => {
        const same = JSON.stringify(sorted(one)) === JSON.stringify(sorted(other))
        expect(findDifference(one, other) === null).toBe(same)
        expect(findDifference(other, one) === null).toBe(same)
      }),
    )
  })

  it.each([
    [{ a: [1, { b: 2 }] }, { a: [1, { b: 3 }] }, { field: 'a.1.b', recorded: 2, replayed: 3 }],
    [{ a: 1 }, { a: 1, b: 2 }, { field: 'b', recorded: undefined, replayed: 2 }],
    [{ a: 1, b: 2 }, { a: 1 }, { field: 'b', recorded: 2, replayed: undefined }],
    [{ a: [] }, { a: {} }, { field: 'a', recorded: [], replayed: {} }],
    [{ a: null }, {}, { field: 'a', recorded: null, replayed: undefined }],
    [{}, { a: undefined }, null],
    [{}, { constructor: 1 }, { field: 'constructor', recorded: undefined, replayed: 1 }],
    [{ valueOf: 1 }, {}, { field: 'valueOf', recorded: 1, replayed: Object.prototype.valueOf }],
  ])('returns the path to it: %j and %j', (one, other, difference) => {
    expect(findDifference(one, other)).toEqual(difference)
  })
})

function mapped(value: unknown, order: (keys: string[]) => string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => mapped(item, order))
  if (typeof value !== 'object' || value === null) return value
  const entries = order(Object.keys(value)).map((key) => [key, mapped(value[key as keyof typeof value], order)])
  return Object.fromEntries(entries)
}
const reversed = (value: unknown) => mapped(value, (keys) => keys.toReversed())
const sorted = (value: unknown) => mapped(value, (keys) => keys.toSorted())
