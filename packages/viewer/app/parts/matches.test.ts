import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { countMatches, splitByMatches } from './matches.ts'

describe('splitByMatches', () => {
  it('keeps the text, and finds what is searched for in any case', () => {
    expect(splitByMatches('Guess, guess.', 'GUESS')).toEqual(['', 'Guess', ', ', 'guess', '.'])
    expect(splitByMatches('a.b-c', '.')).toEqual(['a', '.', 'b-c'])
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        fc.string({ unit: 'grapheme', minLength: 1, maxLength: 3 }),
        (text, wanted) => {
          const parts = splitByMatches(`${text}${wanted}${text}`, wanted)
          expect(parts.join('')).toBe(`${text}${wanted}${text}`)
          expect(parts.length).toBeGreaterThanOrEqual(3)
        },
      ),
    )
  })
})

describe('countMatches', () => {
  it('counts the occurrences in all texts', () => {
    expect(countMatches(['aXa', 'A', ''], 'a')).toBe(3)
    expect(countMatches(['aXa'], '')).toBe(0)
  })
})
