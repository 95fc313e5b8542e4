import type { Summary } from './summary.ts'

const BINS = 120

/**
 * The episodes in flight over a run: the mean in each of 120 equal bins, and the peak.
 *
 * The means are sums of floats, so the result depends on the order of the episodes.
 *
 * @param started - milliseconds since the start of the run, one per episode.
 * @param ended - the same for the ends, in the same order.
 */
export function concurrencyOf(started: Float64Array, ended: Float64Array): Summary['time']['concurrency'] {
  const first = started.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)
  const last = ended.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)
  if (!(last > first)) return null
  const width = (last - first) / BINS
  const binOf = (time: number) => Math.min(BINS - 1, Math.max(0, Math.floor((time - first) / width)))
  const partial = new Float64Array(BINS)
  const whole = new Int32Array(BINS + 1)
  started.forEach((start, i) => {
    const end = ended[i] as number
    const [from, to] = [binOf(start), binOf(end)]
    if (from === to) {
      partial[from]! += Math.max(0, end - start) / width
      return
    }
    partial[from]! += from + 1 - (start - first) / width
    partial[to]! += (end - first) / width - to
    whole[from + 1]! += 1
    whole[to]! -= 1
  })
  let filling = 0
  const inFlight = Array.from(partial, (part, bin) => {
    filling += whole[bin] as number
    return Number((filling + part).toFixed(3))
  })
  return { binMilliseconds: width, inFlight, peak: peakOf(started, ended) }
}

/** An episode that ends when another one starts does not overlap with it. */
function peakOf(started: Float64Array, ended: Float64Array): number {
  const starts = started.toSorted()
  const ends = ended.toSorted()
  let over = 0
  let peak = 0
  starts.forEach((start, i) => {
    while (over < ends.length && (ends[over] as number) <= start) over += 1
    peak = Math.max(peak, i + 1 - over)
  })
  return peak
}
