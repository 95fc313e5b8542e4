import { niceStep, roundTo } from '@episodic/report/fold/histogram'

/** A length in pixels, rounded to hundredths so that markup stays short. */
export function pixels(value: number): number {
  return Math.round(value * 100) / 100 || 0
}

export interface Scale {
  (value: number): number
  readonly ticks: readonly number[]
  readonly domain: readonly [low: number, high: number]
}

/** A linear scale. Its ticks are multiples of 1, 2 or 5 times a power of ten, at most `most` of them. */
export function linearScale(domain: readonly [number, number], range: readonly [number, number], most = 6): Scale {
  const [low, high] = domain
  const step = niceStep((high - low) / most)
  const ticks: number[] = []
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) ticks.push(roundTo(i * step, step))
  const map = (value: number) => pixels(range[0] + ((value - low) / (high - low || 1)) * (range[1] - range[0]))
  return Object.assign(map, { ticks, domain })
}

/** The same scale with ticks at whole numbers alone, from `least` to `most`. */
export function wholeTicks(scale: Scale, least = Number.NEGATIVE_INFINITY, most = Number.POSITIVE_INFINITY): Scale {
  const ticks = scale.ticks.filter((tick) => Number.isInteger(tick) && tick >= least && tick <= most)
  return Object.assign((value: number) => scale(value), { ticks, domain: scale.domain })
}

export function pathOf(points: readonly (readonly [x: number, y: number])[]): string {
  return points.map(([x, y], i) => `${i === 0 ? 'M' : 'L'}${pixels(x)} ${pixels(y)}`).join('')
}

/** The smallest interval with all values, and with 0 if `zero` is set. A single point is widened. */
export function extentOf(values: readonly number[], options: { readonly zero?: boolean } = {}): [number, number] {
  const all = options.zero ? [...values, 0] : values
  const low = all.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)
  const high = all.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)
  if (low < high) return [low, high]
  return options.zero ? [0, 1] : [low - 0.5, high + 0.5]
}

/** Widens an interval to whole ticks, so that marks do not touch the frame. */
export function niceDomain([low, high]: readonly [number, number], most = 5): [number, number] {
  const step = niceStep((high - low) / most)
  return [roundTo(Math.floor(low / step + 1e-9) * step, step), roundTo(Math.ceil(high / step - 1e-9) * step, step)]
}
