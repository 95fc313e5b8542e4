import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatEstimate, formatExact, formatInterval, formatMean } from './format-figure.ts'

describe('formatExact', () => {
  it('keeps eight significant digits of any number', () => {
    fc.assert(
      fc.property(fc.double({ min: -1e6, max: 1e6, noNaN: true }), (value) => {
        const shown = Number(formatExact(value).replaceAll('−', '-').replaceAll(',', ''))
        expect(Math.abs(shown - value)).toBeLessThanOrEqual(Math.abs(value) * 1e-7)
      }),
    )
  })
})

describe('formatInterval', () => {
  it('has two significant digits, and shows both ends where it is not symmetric', () => {
    expect(formatInterval({ mean: 7.93, low: 7.66, high: 8.2 })).toBe('± 0.27')
    expect(formatInterval({ mean: -771, low: -782, high: -760 })).toBe('± 11')
    expect(formatInterval({ mean: 0, low: 0, high: 0.0107 })).toBe('0.0000 to 0.0107')
    expect(formatInterval({ mean: -0.02, low: -0.02, high: 0.18 })).toBe('−0.02 to 0.18')
    expect(formatInterval({ mean: 3, low: 3, high: 3 })).toBe('')
  })
})

describe('formatEstimate', () => {
  it('has the mean before its interval', () => {
    expect(formatEstimate({ mean: 7.93, low: 7.66, high: 8.2 })).toBe('7.93 ± 0.27')
    expect(formatEstimate({ mean: 0, low: 0, high: 0.153 })).toBe('0.000 (0.000 to 0.153)')
    expect(formatEstimate({ mean: 3, low: 3, high: 3 })).toBe('3')
  })
})

describe('formatMean', () => {
  it('shows as many digits as its interval, and all without one', () => {
    expect(formatMean({ mean: 7.9312, low: 7.66, high: 8.2 })).toBe('7.93')
    expect(formatMean({ mean: -771.4, low: -782, high: -760 })).toBe('−771')
    expect(formatMean({ mean: 11.7, low: 11.7, high: 11.7 })).toBe('11.7')
  })
})
