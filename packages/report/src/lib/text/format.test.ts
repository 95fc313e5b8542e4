import { describe, expect, it } from 'vitest'
import { formatBytes, formatCost, wrapText } from './format.ts'

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

describe('formatCost', () => {
  it('never rounds an amount to 0, and writes – for one that is not known', () => {
    expect(
      [null, Number.NaN, 0, 0.000_000_812, 0.000_81, 0.011, 0.5, -0.001_25, 8.123, 1_234.5].map(formatCost),
    ).toEqual(['–', '–', '0', '0.000000812', '0.00081', '0.011', '0.5', '−0.00125', '8.12', '1,234.50'])
  })
})

it('formatBytes uses one unit', () => {
  expect([0, 999, 3_312, 45_600, 1_200_000].map(formatBytes)).toEqual(['0 B', '999 B', '3.3 KB', '46 KB', '1.2 MB'])
})
