import fc from 'fast-check'
import { renderToString } from 'preact-render-to-string'
import { describe, expect, it } from 'vitest'
import { plain } from './plain-text.tsx'
import { hasSigns, textParts } from './signs.ts'

describe('textParts', () => {
  it('replaces characters that are not seen by signs, and nothing else', () => {
    expect(textParts('a\u001b[31mb')).toEqual(['a', { sign: '␛' }, '[31mb'])
    expect(textParts('\u202eabc\u007f\ufeff')).toEqual([{ sign: 'U+202E' }, 'abc', { sign: '␡' }, { sign: 'U+FEFF' }])
    expect(textParts('\ud800x\u{e0041}')).toEqual([{ sign: 'U+D800' }, 'x', { sign: 'U+E0041' }])
    expect(textParts('one\r\ntwo\tthree\rfour')).toEqual(['one', '\ntwo\tthree', { sign: '␍' }, 'four'])
    expect(textParts('می‌خواهم 👩‍🚀 é')).toEqual(['می‌خواهم 👩‍🚀 é'])
    // Between letters that need none, joiners hide: a row of them can spell a text.
    expect(textParts('a\u200db\u200c\u200d')).toEqual([
      'a',
      { sign: 'U+200D' },
      'b',
      { sign: 'U+200C' },
      { sign: 'U+200D' },
    ])
    expect(textParts('')).toEqual([])
  })

  it('keeps all other characters in their order', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const kept = textParts(text).map((part) => (typeof part === 'string' ? part : ''))
        expect(kept.every((part) => !hasSigns(part))).toBe(true)
        // Whether a joiner is seen depends on the letter before it.
        expect((hasSigns(text) ? kept.join('') : text).replaceAll(/[\u200c\u200d]/g, '')).toBe(
          [...text].filter((character) => !hasSigns(character)).join(''),
        )
      }),
    )
  })
})

describe('plain', () => {
  it('renders markup as text', () => {
    const text = `</script><img src=x onerror="hacked">\u202e`
    expect(renderToString(plain(text))).toBe(
      '<bdi>&lt;/script>&lt;img src=x onerror=&quot;hacked&quot;><span class="sign" title="a character that is not shown">U+202E</span></bdi>',
    )
  })
})
