export const NOTHING = '–'

export function formatCount(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 0 })
}

export function plural(count: number, word: string): string {
  return `${formatCount(count)} ${word}${count === 1 ? '' : 's'}`
}

/** Three significant digits and at most three decimals: 0.682, 12.3, 1,234. */
export function formatNumber(value: number | null): string {
  if (value === null) return NOTHING
  const size = Math.abs(value)
  if (size !== 0 && (size < 0.000_5 || size >= 1e7)) return minus(value.toExponential(1))
  const digits = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3
  return minus(value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits }))
}

/** Which currency a cost has: that of the prices, which is not known. */
export const CURRENCY = 'Costs are in the currency of the prices.'

/** Money in the currency of the run's prices, which is not known: 8.12, 0.0113, 0.00052. Never 0 unless it is. */
export function formatCost(cost: number | null): string {
  if (cost === null || Number.isNaN(cost)) return NOTHING
  if (cost === 0) return '0'
  const size = Math.abs(cost)
  // From 1 on as money is written, and below with three digits, however small.
  const digits = size >= 1 ? { minimumFractionDigits: 2, maximumFractionDigits: 2 } : { maximumSignificantDigits: 3 }
  return minus(cost.toLocaleString('en-US', digits))
}

interface KnownCost {
  readonly cost: number | null
  readonly unpriced?: { readonly requests: number; readonly cost: number } | undefined
}

/** A cost of which a part may not be known: 0.0113, or ≥ 0.0113. */
export function formatKnownCost(known: KnownCost | null): string {
  return known?.unpriced ? `≥ ${formatCost(known.unpriced.cost)}` : formatCost(known?.cost ?? null)
}

/** Says of how many requests the cost is not known; `null` if there are none, or no cost is known. */
export function noteUnpriced({ unpriced }: Pick<KnownCost, 'unpriced'>): string | null {
  return unpriced
    ? `≥: the cost of ${plural(unpriced.requests, 'request')} is not known, because there was no answer, or one without usage.`
    : null
}

/** A share in per cent, with one decimal: 74.8 %. */
export function formatPercent(share: number | null): string {
  return share === null ? NOTHING : `${(share * 100).toFixed(1)} %`
}

/** A duration in a readable unit: 240 µs, 3.97 ms, 1.20 s, 2 min 5 s. */
export function formatDuration(milliseconds: number | null): string {
  if (milliseconds === null) return NOTHING
  if (milliseconds === 0) return '0 ms'
  if (milliseconds < 1) return `${Math.round(milliseconds * 1_000)} µs`
  if (milliseconds < 1_000) return `${formatNumber(milliseconds)} ms`
  if (milliseconds < 60_000) return `${formatNumber(milliseconds / 1_000)} s`
  const minutes = Math.floor(milliseconds / 60_000)
  if (minutes < 60) return `${minutes} min ${Math.floor((milliseconds % 60_000) / 1_000)} s`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** Bytes, or characters that are mostly one byte: 812 B, 3.3 KB, 1.2 MB. */
export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`
  const [size, unit] = bytes < 1_000_000 ? [bytes / 1_000, 'KB'] : [bytes / 1_000_000, 'MB']
  return `${size < 10 ? size.toFixed(1) : Math.round(size)} ${unit}`
}

interface Interval {
  readonly low: number | null
  readonly high: number | null
}

export function formatInterval({ low, high }: Interval): string {
  return low === null || high === null ? NOTHING : `${formatNumber(low)} to ${formatNumber(high)}`
}

export function formatShareInterval({ low, high }: Interval): string {
  return low === null || high === null ? NOTHING : `${(low * 100).toFixed(1)} to ${formatPercent(high)}`
}

function minus(text: string): string {
  return text.replace(/^-(?=[\d.])/, '−')
}

/** A value of an axis, as short as possible. */
export function formatTick(value: number): string {
  if (Math.abs(value) >= 100_000)
    return minus(value.toLocaleString('en-US', { notation: 'compact', maximumFractionDigits: 2 }))
  return minus(value.toLocaleString('en-US', { maximumSignificantDigits: 6 }))
}

/** Characters that could move a cursor, change colors, begin a line, or turn the direction of a text. */
const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu

/** Replaces what a text of somebody else could do to a terminal or a log: names and messages come from outside. */
export function cleanText(text: string): string {
  return text.replace(CONTROLS, ' ')
}

/** Wraps a text into lines of at most `width` characters unless a word is longer. Keeps its line breaks. */
export function wrapText(text: string, width: number): string[] {
  return text.split('\n').flatMap((line) => {
    const wrapped: string[] = []
    for (const word of cleanText(line).trim().split(' ')) {
      const last = wrapped.at(-1)
      if (last !== undefined && last.length + 1 + word.length <= width) wrapped[wrapped.length - 1] = `${last} ${word}`
      else wrapped.push(word)
    }
    return wrapped
  })
}
