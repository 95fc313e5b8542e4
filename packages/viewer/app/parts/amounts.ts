import { formatNumber, NOTHING } from '@episodic/report/text/format'

const TOKENS = new Intl.NumberFormat('en-US', { notation: 'compact', maximumSignificantDigits: 3 })

/** Tokens, short: 812, 31.2 k, 4.1 M. */
export function formatTokens(tokens: number | null): string {
  if (tokens === null || tokens === 0 || Number.isNaN(tokens)) return NOTHING
  return TOKENS.format(tokens).replace(/[A-Z]$/, (unit) => ` ${unit === 'K' ? 'k' : unit}`)
}

/** A share of a whole: 4 of 12 as 33 %; never 100 % unless it is all, nor 0 % unless it is nothing. */
export function formatShare(part: number, whole: number): string {
  if (whole === 0) return NOTHING
  const percent = Math.round((part / whole) * 100)
  if (percent === 100 && part < whole) return '99 %'
  return percent === 0 && part > 0 ? '<1 %' : `${percent} %`
}

/** How long ago, in one unit: now, 40 s, 4 min, 2 h, 3 d. */
export function formatAge(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1_000)
  if (seconds < 10) return 'now'
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`
  if (seconds < 48 * 3_600) return `${Math.floor(seconds / 3_600)} h`
  return `${Math.floor(seconds / 86_400)} d`
}

/** A figure with its sign: +0.492, −0.010; 0 without one. */
export function formatSigned(value: number | null): string {
  if (value === 0) return '0'
  return value !== null && value > 0 ? `+${formatNumber(value)}` : formatNumber(value)
}
