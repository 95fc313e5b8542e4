import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseMessage } from './parse-message.ts'

/** Makes any text long enough to be looked over. */
const PADDING = ' '.repeat(5_000)

describe('parseMessage', () => {
  it('parses any JSON, with brackets and quotes in strings', () => {
    fc.assert(
      fc.property(
        fc.json({ maxDepth: 6 }),
        fc.string({ unit: fc.constantFrom('"', '\\', '[', '{', ',', 'é') }),
        (json, tricky) => {
          const text = `{"a":${JSON.stringify(tricky.repeat(50))},"b":${json}}`
          expect(parseMessage(PADDING + text)).toEqual(JSON.parse(text))
        },
      ),
    )
  })

  it('rejects a message that nests too deep or has too many values, in any part', () => {
    for (const text of [
      `{"a":"]]]]]]]]]","b":${'['.repeat(80)}${']'.repeat(80)}}`,
      `[${'[],'.repeat(10_100)}0]`,
      `{"a":"\\\\","b":[${'0,'.repeat(10_100)}0]}`,
    ])
      expect(() => parseMessage(PADDING + text)).toThrow(expect.objectContaining({ code: 'invalid-request' }))
    expect(parseMessage(`${PADDING}[${'0,'.repeat(9_000)}0]`)).toHaveLength(9_001)
    expect(parseMessage(PADDING + '['.repeat(64) + ']'.repeat(64))).toBeInstanceOf(Array)
  })

  it('says that text is not JSON, long or short', () => {
    for (const text of ['', 'x', '"', `${PADDING}"`, `${PADDING}[1,`, `${PADDING}"\\`])
      expect(() => parseMessage(text)).toThrow(expect.objectContaining({ code: 'parse-error' }))
  })
})
