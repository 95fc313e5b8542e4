import { wilson } from '@episodic/report/fold/clustered-rate'
import { clusteredMean } from '@episodic/report/fold/statistics'
import type { Expected } from './suite-plan.ts'

/** A mean with its 99.9 % confidence interval. Without any difference between episodes it has no width. */
export interface Mean {
  readonly mean: number
  readonly low: number
  readonly high: number
}

const ROUNDING = 1e-9

/**
 * Returns the mean of the returns of independent episodes with its 99.9 % confidence interval: Wilson's score interval
 * if every return is 0 or 1, so that rare successes have one too, and otherwise Student's t. Returns `null` for fewer
 * than two returns.
 */
export function meanReturn(returns: readonly number[]): Mean | null {
  const estimate = clusteredMean(returns, [...returns.keys()], 0.999)
  if (!estimate || estimate.count < 2) return null
  const { mean } = estimate
  const interval = returns.every((value) => value === 0 || value === 1)
    ? wilson(mean, returns.length, 0.999)
    : { low: estimate.low ?? mean, high: estimate.high ?? mean }
  return { mean, ...interval }
}

/**
 * Returns whether a mean is the expected one, if that is exact, and otherwise whether its interval, widened by the
 * tolerance of the expected value, holds that value.
 */
export function agrees({ mean, ...range }: Mean, { value, tolerance }: Expected & { readonly value: number }): boolean {
  const { low, high } = tolerance === 'exact' ? { low: mean, high: mean } : range
  const margin = (typeof tolerance === 'number' ? tolerance : 0) + ROUNDING * Math.max(1, Math.abs(value))
  return value >= low - margin && value <= high + margin
}

/** Returns a mean on the scale on which random play has 0 and the best policy 1; `null` if one of them is unknown. */
export function scoreOf(
  { mean, low, high }: Mean,
  { random, optimum }: { readonly random: number | null; readonly optimum: number | null },
): Mean | null {
  if (random === null || optimum === null || random === optimum) return null
  const scaled = (value: number) => (value - random) / (optimum - random)
  const [one, other] = [scaled(low), scaled(high)]
  return { mean: scaled(mean), low: Math.min(one, other), high: Math.max(one, other) }
}
