import { type NORMAL_POINTS, studentPoint } from '@episodic/protocol/internal'
import { exactSum } from './exact-sum.ts'
import { histogramOf } from './histogram.ts'
import type { Distribution, Estimate } from './summary.ts'

/** Deviations below this share of the largest value are rounding errors. */
const ROUNDING = 1e-13

/**
 * Estimates a mean with a cluster-robust standard error: √(G/(G−1) · Σ_g (Σ_{i∈g} (x_i − x̄))²) / n for G clusters, and
 * an interval by Student's t with G−1 degrees of freedom. With one value per cluster it is the ordinary x̄ ± t·s/√n.
 *
 * Liang & Zeger, "Longitudinal data analysis using generalized linear models" (1986); the factor G/(G−1) and the
 * degrees of freedom as in Cameron & Miller, "A Practitioner's Guide to Cluster-Robust Inference" (2015); for
 * evaluations: Miller, "Adding Error Bars to Evals" (2024, arXiv:2411.00640).
 *
 * @param clusters - the cluster of each value; equal numbers must be adjacent.
 * @returns `null` if there is no value.
 */
export function clusteredMean(
  values: ArrayLike<number>,
  clusters: ArrayLike<number>,
  confidence: keyof typeof NORMAL_POINTS = 0.95,
): Estimate | null {
  const count = values.length
  if (count === 0) return null
  const mean = exactSum(Array.from(values)) / count
  const squares: number[] = []
  let largest = 0
  for (let i = 0; i < count; ) {
    const cluster = clusters[i]
    const deviations: number[] = []
    for (; i < count && clusters[i] === cluster; i++) {
      const value = values[i] as number
      largest = Math.max(largest, Math.abs(value))
      deviations.push(value - mean)
    }
    squares.push(exactSum(deviations) ** 2)
  }
  const groups = squares.length
  if (groups < 2) return { mean, low: null, high: null, standardError: null, count, clusters: groups }
  const standardError = Math.sqrt((groups / (groups - 1)) * exactSum(squares)) / count
  if (standardError <= ROUNDING * largest)
    return { mean, low: null, high: null, standardError: 0, count, clusters: groups }
  const half = studentPoint(groups - 1, confidence) * standardError
  return { mean, low: mean - half, high: mean + half, standardError, count, clusters: groups }
}

/**
 * The difference of two independent means, and its 95 % interval: `null` with too few values, or if none deviates.
 * Welch, "The generalization of 'Student's' problem when several different population variances are involved" (1947).
 */
export function differenceOfMeans(one: Estimate, other: Estimate) {
  const difference = one.mean - other.mean
  const [a, b] = [one, other].map(({ standardError }) => (standardError ?? 0) ** 2) as [number, number]
  if (one.count < 2 || other.count < 2 || a + b === 0) return { difference, low: null, high: null }
  const degrees = (a + b) ** 2 / (a ** 2 / (one.count - 1) + b ** 2 / (other.count - 1))
  const half = studentPoint(Math.max(1, Math.floor(degrees))) * Math.sqrt(a + b)
  return { difference, low: difference - half, high: difference + half }
}

/**
 * The unbiased estimate of the probability that at least one of `k` attempts succeeds, from `count` attempts with
 * `successes`: 1 − C(n−c, k) / C(n, k), as a product that cannot overflow.
 *
 * Chen et al., "Evaluating Large Language Models Trained on Code" (2021, arXiv:2107.03374).
 *
 * @param k - from 1 to `count`.
 */
export function passAtK(count: number, successes: number, k: number): number {
  if (!(k >= 1 && k <= count))
    throw new RangeError(`pass@k needs k from 1 to the number of attempts; got k = ${k} with ${count} attempts.`)
  if (count - successes < k) return 1
  let allFail = 1
  for (let i = count - successes + 1; i <= count; i++) allFail *= 1 - k / i
  return 1 - allFail
}

/**
 * The unbiased estimate of the probability that all of `k` attempts succeed (pass^k): C(c, k) / C(n, k), which is 1
 * less the chance that one of them fails.
 *
 * Yao et al., "τ-bench: A Benchmark for Tool-Agent-User Interaction in Real-World Domains" (2024, arXiv:2406.12045).
 *
 * @param k - from 1 to `count`.
 */
export function passHatK(count: number, successes: number, k: number): number {
  return 1 - passAtK(count, count - successes, k)
}

/**
 * The `p` quantile of values in ascending order, interpolated between neighbours.
 *
 * Hyndman & Fan, "Sample Quantiles in Statistical Packages" (1996), definition 7.
 */
export function quantile(sorted: ArrayLike<number>, p: number): number {
  if (sorted.length === 0) throw new RangeError('A quantile needs at least one value.')
  const position = (sorted.length - 1) * p
  const low = Math.floor(position)
  const below = sorted[low] as number
  const above = sorted[Math.min(low + 1, sorted.length - 1)] as number
  return below + (above - below) * (position - low)
}

export function computeDistribution(
  values: Float64Array,
  clusters: Float64Array,
  smallestWidth = 0,
): Distribution | null {
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
