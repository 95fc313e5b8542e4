import { describe, expect, it } from 'vitest'
import { hasGrid } from './long-text.tsx'

describe('hasGrid', () => {
  it('finds maps, boards and tables', () => {
    expect(hasGrid('You are at @.\nS@FF\nFHFH\nFFFH\nHFFG')).toBe(true)
    expect(hasGrid('| a | b |\n| 10 | 2 |')).toBe(true)
    expect(hasGrid('+---+\n')).toBe(true)
  })

  it('leaves other texts as they are', () => {
    expect(hasGrid('The number is lower.\nGuess again.\n8 guesses left.')).toBe(false)
    expect(hasGrid('a\nb\nc\nd')).toBe(false)
    expect(hasGrid('\n\n\n')).toBe(false)
    expect(hasGrid('')).toBe(false)
  })
})
