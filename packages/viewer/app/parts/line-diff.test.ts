import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type DiffLine, lineDiff, wordDiff } from './line-diff.ts'

const line = fc.constantFrom('a', 'b b', '{', '}', '  "count": 1,', '')
const text = fc.array(line, { minLength: 1, maxLength: 8 }).map((lines) => lines.map((one) => `${one}\n`).join(''))
const join = (lines: readonly DiffLine[]) =>
  lines.map(({ pieces }) => `${pieces.map((piece) => piece.text).join('')}\n`).join('')

describe('lineDiff', () => {
  it('has all lines of both texts, in their orders', () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        const lines = lineDiff(before, after)
        expect(join(lines.filter(({ mark }) => mark !== 'added'))).toBe(before)
        expect(join(lines.filter(({ mark }) => mark !== 'removed'))).toBe(after)
        if (before === after) expect(lines.every(({ mark }) => mark === 'same')).toBe(true)
      }),
    )
  })

  it('marks as changed no line at the beginning or at the end that both texts have', () => {
    const same = Array.from({ length: 5_000 }, (_, i) => `${i}\n`).join('')
    const marks = lineDiff(`${same}old\n${same}`, `${same}new\nmore\n${same}`).map(({ mark }) => mark)
    expect(marks.indexOf('removed')).toBe(5_000)
    expect(marks.slice(5_000, 5_003)).toEqual(['removed', 'added', 'added'])
    expect(marks.slice(5_003).every((mark) => mark === 'same')).toBe(true)
    expect(marks).toHaveLength(10_003)
  })

  it('marks the words of a line that changed', () => {
    expect(lineDiff('{\n  "guesses": 2\n}\n', '{\n  "guesses": 3\n}\n')).toEqual([
      { mark: 'same', pieces: [{ text: '{', changed: false }] },
      {
        mark: 'removed',
        pieces: [
          { text: '  "guesses": ', changed: false },
          { text: '2', changed: true },
        ],
      },
      {
        mark: 'added',
        pieces: [
          { text: '  "guesses": ', changed: false },
          { text: '3', changed: true },
        ],
      },
      { mark: 'same', pieces: [{ text: '}', changed: false }] },
    ])
  })

  it('shows texts that are too different whole', () => {
    const numbers = (from: number) => Array.from({ length: 4_000 }, (_, i) => `${from + i}\n`).join('')
    const lines = lineDiff(numbers(0), numbers(10_000))
    expect(lines.filter(({ mark }) => mark === 'removed')).toHaveLength(4_000)
    expect(lines.filter(({ mark }) => mark === 'added')).toHaveLength(4_000)
  })
})

describe('wordDiff', () => {
  it('keeps the texts', () => {
    const words = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\n', '.') })
    fc.assert(
      fc.property(words, words, (before, after) => {
        const { removed, added } = wordDiff(before, after)
        expect(removed.map((piece) => piece.text).join('')).toBe(before)
        expect(added.map((piece) => piece.text).join('')).toBe(after)
      }),
    )
  })
})
