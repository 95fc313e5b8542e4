import { describe, expect, it } from 'vitest'
import { wrapText } from './format.ts'

describe('wrapText', () => {
  it('breaks between words and keeps all of them', () => {
    const text = 'The model gpt at api.example.com did not answer (HTTP 401): Incorrect API key provided.'
    const lines = wrapText(text, 30)
    expect(lines.join(' ')).toBe(text)
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(30)
  })

  it('keeps line breaks and long words, and drops control characters', () => {
    expect(wrapText('one\n    at two (three.ts:1:2)\u001b[31m', 10)).toEqual([
      'one',
      'at two',
      '(three.ts:1:2)',
      '[31m',
    ])
    expect(wrapText('', 10)).toEqual([''])
  })
})
