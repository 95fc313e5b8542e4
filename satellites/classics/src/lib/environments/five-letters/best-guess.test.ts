import { describe, expect, it } from 'vitest'
import { bestGuess } from './best-guess.ts'
import { fitting, marksOf } from './marks.ts'
import { WORDS, type Word } from './words.ts'

/** The guesses that the plan takes to find a word. */
function guessesFor(word: Word): number {
  const guesses = []
  for (let left: Word[] = [...WORDS]; ; left = fitting(WORDS, guesses)) {
    const { guess } = bestGuess(left)
    guesses.push({ word: guess, marks: marksOf(guess, word) })
    if (guess === word) return guesses.length
  }
}

/** The fewest guesses in all for a few words, trying everything. */
function fewest(words: readonly Word[]): number {
  if (words.length === 1) return 1
  const totals = WORDS.map((guess) => {
    const groups = [...Map.groupBy(words, (word) => marksOf(guess, word)).entries()]
    if (groups.length === 1) return Number.POSITIVE_INFINITY
    return groups.reduce((sum, [marks, group]) => sum + (marks === 'XXXXX' ? 0 : fewest(group)), words.length)
  })
  return Math.min(...totals)
}

describe('bestGuess', () => {
  it('promises what its guesses take, at most six for a word', () => {
    const taken = WORDS.map(guessesFor)
    expect(taken.reduce((sum, guesses) => sum + guesses, 0)).toBe(bestGuess(WORDS).guesses)
    expect(Math.max(...taken)).toBeLessThanOrEqual(6)
  })

  it('is as good as trying everything', () => {
    for (const at of [0, 30, 60, 90]) {
      const words = WORDS.slice(at, at + 3)
      expect(bestGuess(words).guesses).toBe(fewest(words))
    }
  })
})

describe('marksOf', () => {
  it.each([
    ['about', 'about', 'XXXXX'],
    ['apple', 'paper', 'ooX.o'],
    ['paper', 'apple', 'ooXo.'],
    ['eager', 'green', 'o.oXo'],
    ['queen', 'eagle', '..oo.'],
    ['green', 'eager', 'oooX.'],
  ])('%s for %s is %s', (guess, word, marks) => {
    expect(marksOf(guess, word)).toBe(marks)
  })
})
