const BARS = '▁▂▃▄▅▆▇█'

/** A curve as a row of bars, the lowest value the lowest bar. */
export function sparkline(values: readonly number[]): string {
  const [low, high] = [Math.min(...values), Math.max(...values)]
  return values
    .map((value) => BARS.charAt(high === low ? 0 : Math.round(((value - low) / (high - low)) * (BARS.length - 1))))
    .join('')
}
