import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createNeedle } from './needle.ts'

const latin1 = (text: string) => Buffer.from(text).toString('latin1')
const isIn = (needle: string, bytes: string) => {
  const { inBytes } = createNeedle(needle)
  inBytes.lastIndex = 0
  return inBytes.test(bytes)
}
/** Letters that are escaped, that have several bytes, and that have two cases. */
const anyText = fc.string({ minLength: 1, maxLength: 6, unit: fc.constantFrom(...'aZ09 "\\/\n\té\u00c9ß😀.*(-\u2028') })

describe('createNeedle', () => {
  it('finds a text wherever JSON may have it, also within a text that is JSON itself', () => {
    fc.assert(
      fc.property(anyText, anyText, anyText, (before, text, after) => {
        const whole = `${before}${text}${after}`
        const line = JSON.stringify({ whole })
        expect(isIn(text, latin1(line))).toBe(true)
        expect(isIn(text, latin1(JSON.stringify({ arguments: line })))).toBe(true)
        const escaped = line.replaceAll(
          /[^ -~]/g,
          (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
        )
        expect(isIn(text, latin1(escaped))).toBe(true)
        expect(whole.match(createNeedle(text).inText())).toContain(text)
      }),
      { numRuns: 500, examples: [['é', 'éÉ', 'a']] },
    )
  })

  it.each([
    ['\\'.repeat(12), '\\'],
    [String.raw`\/`.repeat(40), String.raw`\\/`],
    [String.raw`\"`.repeat(40), String.raw`\\\"`],
    [String.raw`\u005c`.repeat(20), String.raw`\u005cu005c`],
    ['\n'.repeat(40), String.raw`\n`],
    ['"'.repeat(40), String.raw`\"`],
  ])('needs time in proportion to the bytes for %s', (text, written) => {
    // An expression that tries several ways for each letter would not end.
    expect(isIn(`${text}X`, written.repeat(100_000))).toBe(false)
    expect(isIn(`${text}X`, latin1(JSON.stringify({ text: `${text}X` })))).toBe(true)
  })

  it('finds letters in both cases, and nothing that only has the same letters', () => {
    expect('Ärger, ÄRGER, ärger, Arger'.match(createNeedle('ärGer').inText())).toEqual(['Ärger', 'ÄRGER', 'ärger'])
    expect('ééÉ ÉÉé'.match(createNeedle('éÉ').inText())).toEqual(['éÉ', 'ÉÉ'])
    expect('a.b axb'.match(createNeedle('A.B').inText())).toEqual(['a.b'])
    expect(isIn('ab', 'a b')).toBe(false)
  })
})
