import { exactSum } from './exact-sum.ts'

/** The standard normal's 97.5 % point: every interval here is a 95 % one. */
const Z = 1.959963984540054

/** A mean with its 95 % confidence interval; the interval is `null` where fewer than two clusters say nothing about it. */
export interface Estimate {
  readonly mean: number
  readonly low: number | null
  readonly high: number | null
  readonly standardError: number | null
  readonly count: number
  /** Groups of values that are not independent of each other: the attempts of one task are one cluster. */
  readonly clusters: number
}

/** A share with its 95 % confidence interval. All three are `null` when `count` is 0. */
export interface Proportion {
  readonly successes: number
  readonly count: number
  readonly rate: number | null
  readonly low: number | null
  readonly high: number | null
}

/**
 * Estimates a mean with a cluster-robust standard error: √(G/(G−1) · Σ_g (Σ_{i∈g} (x_i − x̄))²) / n for G clusters. With
 * one value a cluster it is the ordinary s/√n.
 *
 * Liang & Zeger, "Longitudinal data analysis using generalized linear models" (1986); the factor G/(G−1) as in Cameron &
 * Miller, "A Practitioner's Guide to Cluster-Robust Inference" (2015); why evaluations want it: Miller, "Adding Error Bars
 * to Evals" (2024, arXiv:2411.00640).
 *
 * @param clusters - the cluster of each value; equal numbers must be adjacent.
 * @returns `null` when there is no value.
 */
export function clusteredMean(values: ArrayLike<number>, clusters: ArrayLike<number>): Estimate | null {
  const count = values.length
  if (count === 0) return null
  const mean = exactSum(Array.from(values)) / count
  const squares: number[] = []
  for (let i = 0; i < count; ) {
    const cluster = clusters[i]
    const deviations: number[] = []
    for (; i < count && clusters[i] === cluster; i++) deviations.push((values[i] as number) - mean)
    squares.push(exactSum(deviations) ** 2)
  }
  const groups = squares.length
  if (groups < 2) return { mean, low: null, high: null, standardError: null, count, clusters: groups }
  const standardError = Math.sqrt((groups / (groups - 1)) * exactSum(squares)) / count
  return { mean, low: mean - Z * standardError, high: mean + Z * standardError, standardError, count, clusters: groups }
}

/**
 * Estimates a share with Wilson's score interval, which stays inside [0, 1] and holds near its ends.
 *
 * E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical Inference" (1927), without continuity correction.
 */
export function wilson(successes: number, count: number): Proportion {
  if (count === 0) return { successes, count, rate: null, low: null, high: null }
  const rate = successes / count
  const scale = 1 + Z ** 2 / count
  const centre = (rate + Z ** 2 / (2 * count)) / scale
  const half = (Z * Math.sqrt((rate * (1 - rate)) / count + Z ** 2 / (4 * count ** 2))) / scale
  return {
    successes,
    count,
    rate,
    // At the ends the formula gives exactly 0 and 1, and rounding would not.
    low: successes === 0 ? 0 : centre - half,
    high: successes === count ? 1 : centre + half,
  }
}

/**
 * The unbiased chance that at least one of `k` attempts succeeds, from `count` attempts of which `successes` did:
 * 1 − C(n−c, k) / C(n, k), as a product that cannot overflow.
 *
 * Chen et al., "Evaluating Large Language Models Trained on Code" (2021, arXiv:2107.03374).
 *
 * @param k - from 1 to `count`.
 */
export function passAtK(count: number, successes: number, k: number): number {
  if (!(k >= 1 && k <= count))
    throw new RangeError(`pass@k needs k from 1 to the number of attempts; it got k ${k} of ${count}.`)
  if (count - successes < k) return 1
  let allFail = 1
  for (let i = count - successes + 1; i <= count; i++) allFail *= 1 - k / i
  return 1 - allFail
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
