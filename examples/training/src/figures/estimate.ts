import { studentPoint } from '@episodic/protocol/internal'
import { mean, sampleStandardDeviation } from 'simple-statistics'

/** The mean over seeds, with its 95 % confidence interval. */
export interface Estimate {
  readonly mean: number
  readonly low: number
  readonly high: number
}

/**
 * Estimates a mean from one number for each seed, by Student's t. Throws a `RangeError` for fewer than two seeds, which
 * have no interval.
 */
export function estimateOf(numbers: readonly number[]): Estimate {
  if (numbers.length < 2) throw new RangeError(`An interval needs at least 2 seeds; there are ${numbers.length}.`)
  const middle = mean([...numbers])
  const half = (studentPoint(numbers.length - 1) * sampleStandardDeviation([...numbers])) / Math.sqrt(numbers.length)
  return { mean: middle, low: middle - half, high: middle + half }
}
