import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { chunksOf } from './call-stream.ts'

/** Joins chunks as the clients do: each is stripped on the left. */
function joined(chunks: readonly string[]): string {
  return chunks.map((chunk) => chunk.replace(/^[\s\u0085]+/, '')).join('')
}

describe('chunksOf', () => {
  it('keeps any answer, however the client strips its lines', () => {
    const text = fc.string({
      unit: fc.constantFrom(' ', '\u0085', '\u00a0', '\u3000', 'é', '😀', '"', '\\', '\n', 'a'),
    })
    fc.assert(
      fc.property(fc.array(text, { maxLength: 40 }), fc.integer({ min: 1, max: 300 }), (parts, times) => {
        const answer = { text: parts.join('').repeat(times) }
        expect(JSON.parse(joined(chunksOf(JSON.stringify(answer))))).toEqual(answer)
      }),
    )
  })

  it('splits no surrogate pair, so that each line is valid UTF-8 by itself', () => {
    for (const chunk of chunksOf(JSON.stringify({ text: `a${'😀'.repeat(5_000)}` })))
      expect(Buffer.from(chunk, 'utf8').toString('utf8')).toBe(chunk)
  })

  it('sends a short answer as one piece', () => {
    expect(chunksOf('{"ok":true}')).toEqual(['{"ok":true}'])
  })
})
