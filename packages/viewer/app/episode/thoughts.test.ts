import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sectionsOf } from './message-view.tsx'

describe('sectionsOf', () => {
  it('keeps every character of the text', () => {
    const piece = fc.constantFrom('<think>', '</think>', 'a', '\n', ' <b> ')
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const text = pieces.join('')
        expect(
          sectionsOf(text)
            .map((section) => section.text)
            .join(''),
        ).toBe(text)
      }),
    )
  })

  it('finds thoughts, also one that is not closed or was opened by the prompt', () => {
    expect(sectionsOf('<think>a\nb</think>c')).toEqual([
      { kind: 'thought', text: '<think>a\nb</think>' },
      { kind: 'text', text: 'c' },
    ])
    expect(sectionsOf('a<think>b')).toEqual([
      { kind: 'text', text: 'a' },
      { kind: 'thought', text: '<think>b' },
    ])
    expect(sectionsOf('a</think>b<think>c</think>').map(({ kind }) => kind)).toEqual(['thought', 'text', 'thought'])
    expect(sectionsOf('plain')).toEqual([{ kind: 'text', text: 'plain' }])
    expect(sectionsOf('')).toEqual([])
  })
})
