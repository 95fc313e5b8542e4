import type { Latency } from './summary.ts'

export type LatencyHistogram = ReturnType<typeof createLatencyHistogram>

/** A percentile is at most 1/128 (0.8 %) above the truth, and exact to the microsecond below 256 µs. */
const SUB_BITS = 8
const SUB_BUCKETS = 2 ** SUB_BITS
const HALF = SUB_BUCKETS / 2
/** 2^32 − 1 µs, 71 minutes. Longer durations count in this bucket; `longest` stays exact. */
const LONGEST = 0xffff_ffff
const BINS_PER_DOUBLING = 4

/** Creates an empty histogram with log-spaced buckets of whole microseconds, like HdrHistogram (G. Tene). */
export function createLatencyHistogram() {
  const counts = new Float64Array(bucketOf(LONGEST) + 1)
  let count = 0
  let longest = 0
  const histogram = {
    add(milliseconds: number) {
      counts[bucketOf(Math.min(LONGEST, Math.max(0, Math.round(milliseconds * 1_000))))]! += 1
      count += 1
      longest = Math.max(longest, milliseconds)
    },
    get count() {
      return count
    },
    /** The exact maximum, in milliseconds; 0 if empty. */
    get longest() {
      return longest
    },
    /** The upper end of the bucket of the `p` quantile, in milliseconds; 0 if empty. */
    percentile(p: number) {
      let left = Math.ceil(p * count)
      for (let bucket = 0; bucket < counts.length; bucket++) {
        left -= counts[bucket] as number
        if (left <= 0) return Math.min(longest, (startOf(bucket + 1) - 1) / 1_000)
      }
      return longest
    },
    /** Counts in bins for a plot, four per doubling, from the first to the last that is not empty, in milliseconds. */
    bins(): Latency['bins'] {
      const bins: number[] = []
      counts.forEach((inside, bucket) => {
        if (inside > 0) bins[binOf(bucket)] = (bins[binOf(bucket)] ?? 0) + inside
      })
      const first = Math.max(
        0,
        bins.findIndex((inside) => inside > 0),
      )
      return Array.from(bins.slice(first), (inside = 0, i) => ({
        from: edgeOf(first + i),
        to: edgeOf(first + i + 1),
        count: inside,
      }))
    },
    summarize(): Latency | null {
      if (count === 0) return null
      const [median, p90, p99] = [0.5, 0.9, 0.99].map(histogram.percentile) as [number, number, number]
      return { median, p90, p99, longest, bins: histogram.bins() }
    },
  }
  return histogram
}

function bucketOf(microseconds: number): number {
  const doublings = Math.max(0, 32 - Math.clz32(microseconds) - SUB_BITS)
  return doublings * HALF + (microseconds >>> doublings)
}

function startOf(bucket: number): number {
  const doublings = Math.max(0, Math.floor(bucket / HALF) - 1)
  return (bucket - doublings * HALF) * 2 ** doublings
}

function binOf(bucket: number): number {
  // The logarithm of a bin's lower edge may round down.
  return Math.floor(Math.log2(Math.max(1, startOf(bucket))) * BINS_PER_DOUBLING + 1e-9)
}

/** The lower edge of a bin, in milliseconds, to four digits. */
function edgeOf(bin: number): number {
  return Number((2 ** (bin / BINS_PER_DOUBLING) / 1_000).toPrecision(4))
}
