import { histogramOf } from './histogram.ts'
import { clusteredMean, quantile } from './statistics.ts'
import type { Distribution } from './summary.ts'

/**
 * Describes how values are spread; `null` when there are none.
 *
 * @param clusters - the cluster of each value; equal numbers must be adjacent.
 * @param smallestWidth - of a bin: 1 for whole numbers.
 */
export function distributionOf(values: Float64Array, clusters: Float64Array, smallestWidth = 0): Distribution | null {
  const mean = clusteredMean(values, clusters)
  if (!mean) return null
  const sorted = values.toSorted()
  return {
    mean,
    least: quantile(sorted, 0),
    lowerQuartile: quantile(sorted, 0.25),
    median: quantile(sorted, 0.5),
    upperQuartile: quantile(sorted, 0.75),
    most: quantile(sorted, 1),
    histogram: histogramOf(values, smallestWidth),
  }
}
