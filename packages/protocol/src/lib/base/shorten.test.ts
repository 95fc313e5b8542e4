import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lastOf, shorten, shortenMiddle } from './shorten.ts'

/** Texts of characters of one and of two UTF-16 units. */
const text = fc.string({ unit: fc.constantFrom('a', '🚀', '\n'), maxLength: 40 })
const seed = 3

describe.each<[string, (text: string, length: number) => string]>([
  ['shorten', shorten],
  ['shortenMiddle', (words, length) => shortenMiddle(words, length).text],
  ['lastOf', lastOf],
])('%s', (_, cut) => {
  it('never cuts between the halves of a surrogate pair', () => {
    const property = fc.property(text, fc.nat({ max: 40 }), (words, length) => {
      const short = cut(words, length)
      expect(short.isWellFormed()).toBe(true)
      expect(short).not.toContain('\ufffd')
      if (words.length <= length) expect(short).toBe(words)
    })
    fc.assert(property, { seed })
  })

  it('replaces half a pair that a long text has', () => {
    const short = cut(`\ude80${'x'.repeat(20)}\ud83d`, 12)
    expect(short.isWellFormed()).toBe(true)
    expect(short).toContain('\ufffd')
  })
})

describe('shorten', () => {
  it('keeps the first characters', () => {
    expect([shorten('abc', 3), shorten('abcd', 3), shorten('ab🚀', 3)]).toEqual(['abc', 'abc…', 'ab…'])
  })
})

describe('shortenMiddle', () => {
  it('counts what is missing', () => {
    expect(shortenMiddle('abcdefgh', 4)).toEqual({ text: 'ab [4 characters cut] gh', missing: 4 })
    expect(shortenMiddle('abcd', 4)).toEqual({ text: 'abcd', missing: 0 })
  })
})

describe('lastOf', () => {
  it('keeps the last characters', () => {
    expect([lastOf('abc', 3), lastOf('abcd', 3), lastOf('🚀ab', 3)]).toEqual(['abc', 'bcd', 'ab'])
  })
})
