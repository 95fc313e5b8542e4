import { describe, expect, it } from 'vitest'
import { formatAge, formatShare, formatSigned, formatTokens } from './amounts.ts'

describe('formatTokens', () => {
  it('shortens large counts', () => {
    expect([null, Number.NaN, 0, 812, 31_204, 4_120_000].map(formatTokens)).toEqual([
      '–',
      '–',
      '–',
      '812',
      '31.2 k',
      '4.12 M',
    ])
  })
})

describe('formatShare', () => {
  it('rounds to all or nothing only if it is', () => {
    expect([formatShare(1, 3), formatShare(999, 1_000), formatShare(1, 1_000), formatShare(0, 9)]).toEqual([
      '33 %',
      '99 %',
      '<1 %',
      '0 %',
    ])
    expect(formatShare(0, 0)).toBe('–')
  })
})

describe('formatAge', () => {
  it('uses one unit', () => {
    expect([-5, 9_999, 40_000, 250_000, 7_300_000, 3 * 86_400_000].map(formatAge)).toEqual([
      'now',
      'now',
      '40 s',
      '4 min',
      '2 h',
      '3 d',
    ])
  })
})

describe('formatSigned', () => {
  it('shows the sign of every figure but zero', () => {
    expect([0.4917, -0.01, 0, null].map(formatSigned)).toEqual(['+0.492', '−0.010', '0', '–'])
  })
})
