import canonicalize from 'canonicalize'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson } from './canonical-json.ts'
import type { Json, JsonObject } from './json.ts'

/** The same value with the keys of every object in another order. */
function reversed(value: Json): Json {
  if (Array.isArray(value)) return value.map(reversed)
  if (value === null || typeof value !== 'object') return value
  const entries = Object.entries(value as JsonObject).map(([key, item]) => [key, reversed(item)] as const)
  return Object.fromEntries(entries.reverse())
}

const anyJson = fc.jsonValue({ stringUnit: 'grapheme' }) as fc.Arbitrary<Json>

describe('canonicalJson', () => {
  it('gives equal values equal texts, whatever the order of their keys', () => {
    fc.assert(fc.property(anyJson, (value) => canonicalJson(reversed(value)) === canonicalJson(value)))
  })

  it('says the value and nothing else', () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        const text = canonicalJson(value)
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)))
        expect(canonicalJson(JSON.parse(text))).toBe(text)
      }),
    )
  })

  it('writes what a second implementation writes, indexes and prototypes among the keys', () => {
    const key = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.nat().map(String),
      fc.constantFrom('__proto__', '01', '-1'),
    )
    const tree = fc.letrec<{ value: Json }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        fc.jsonValue({ maxDepth: 1, stringUnit: 'grapheme' }) as fc.Arbitrary<Json>,
        fc.array(tie('value')),
        fc.array(fc.tuple(key, tie('value'))).map((entries) => Object.fromEntries(entries)),
      ),
    })).value
    fc.assert(fc.property(tree, (value) => canonicalJson(value) === canonicalize(value)))
  })

  // The examples of RFC 8785, sections 3.2.2 and 3.2.3.
  it('writes the examples of RFC 8785', () => {
    const numbers = JSON.parse('[333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001]')
    expect(canonicalJson({ numbers, literals: [null, true, false] })).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27]}',
    )
    const keys = { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\ud83d\ude00': 5, '\u0080': 6, '\u00f6': 7 }
    expect(canonicalJson(keys)).toBe('{"\\r":2,"1":4,"\u0080":6,"ö":7,"€":1,"😀":5,"\ufb33":3}')
  })

  it('leaves out members that JSON leaves out', () => {
    const value = { b: undefined, a: 1, c: () => 1 }
    expect(canonicalJson(value as unknown as Json)).toBe(JSON.stringify(value))
  })

  it('refuses what is no JSON', () => {
    for (const value of [undefined, Number.NaN, '\ud800', { a: Number.POSITIVE_INFINITY }])
      expect(() => canonicalJson(value as Json)).toThrow()
  })
})
