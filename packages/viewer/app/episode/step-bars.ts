function barPath(values: readonly (readonly [from: number, to: number] | null)[]): string {
  return values
    .map((bar, i) => {
      if (!bar || bar[0] === bar[1]) return ''
      const [top, bottom] = [Math.min(...bar), Math.max(...bar)]
      return `M${round(i + 0.12)} ${round(top)}H${round(i + 0.88)}V${round(bottom)}H${round(i + 0.12)}Z`
    })
    .join('')
}

export function stackedBars(series: readonly (readonly number[])[]): {
  readonly paths: readonly string[]
  readonly most: number
} {
  const count = series[0]?.length ?? 0
  const totals = Array.from({ length: count }, (_, i) => series.reduce((sum, values) => sum + (values[i] ?? 0), 0))
  const most = totals.reduce((one, other) => Math.max(one, other), 0)
  const below = new Array<number>(count).fill(0)
  const paths = series.map((values) =>
    barPath(
      values.map((value, i) => {
        const from = below[i] as number
        below[i] = from + value
        return most > 0 ? [1 - from / most, 1 - (from + value) / most] : null
      }),
    ),
  )
  return { paths, most }
}

/** The value that at least half of the steps have, such as the price of every step; `null` if there is none. */
export function usualValue(values: readonly number[]): number | null {
  const median = [...values].sort((a, b) => a - b)[values.length >> 1]
  const count = values.filter((value) => value === median).length
  return median !== undefined && count > 1 && 2 * count >= values.length ? median : null
}

/** Bars of values above and below zero, with the place of zero. Those of the usual value are apart. */
export function signedBars(
  values: readonly number[],
  usual: number | null,
): {
  readonly gains: string
  readonly losses: string
  readonly usual: string
  readonly zero: number
  readonly low: number
  readonly high: number
} {
  const [low, high] = rangeOf([...values, 0])
  const at = (value: number) => (high === low ? 1 : 1 - (value - low) / (high - low))
  const bars = (isIn: (value: number) => boolean) =>
    barPath(values.map((value) => (isIn(value) ? [at(0), at(value)] : null)))
  return {
    gains: bars((value) => value > 0 && value !== usual),
    losses: bars((value) => value < 0 && value !== usual),
    usual: bars((value) => value === usual),
    zero: at(0),
    low,
    high,
  }
}

export function linePath(values: readonly (number | null)[]): {
  readonly path: string
  readonly low: number
  readonly high: number
} {
  const [low, high] = rangeOf(values.filter((value) => value !== null))
  let pen = 'M'
  const path = values
    .map((value, i) => {
      if (value === null) {
        pen = 'M'
        return ''
      }
      const y = high === low ? 0.5 : 1 - (value - low) / (high - low)
      const point = `${pen}${round(i + 0.5)} ${round(y)}`
      pen = 'L'
      return point
    })
    .join('')
  return { path, low, high }
}

function rangeOf(values: readonly number[]): readonly [number, number] {
  return values.length === 0
    ? [0, 0]
    : [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))]
}

function round(value: number): number {
  return Math.round(value * 1_000) / 1_000
}
