import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { plainPart } from './search-run.ts'

/** Letters that are escaped, that have several bytes, and that have two cases. */
const anyText = fc.string({ minLength: 1, maxLength: 6, unit: fc.constantFrom(...'aZ09 "\\/\n\té\u00c9ß😀.*(-\u2028') })

describe('plainPart', () => {
  it('stands wherever JSON may have the text, also within a text that is JSON itself', () => {
    fc.assert(
      fc.property(anyText, anyText, anyText, (before, text, after) => {
        const line = JSON.stringify({ whole: `${before}${text}${after}` })
        for (const written of [line, JSON.stringify({ arguments: line })]) expect(written).toContain(plainPart(text))
      }),
    )
  })

  it('is the longest one', () => {
    expect(['say "hello there"', 'größe', '“”', ''].map(plainPart)).toEqual(['hello there', 'gr', '', ''])
  })
})
