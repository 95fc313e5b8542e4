import { wilson } from '@episodic/report/fold/clustered-rate'

export interface Interval {
  readonly low: number
  readonly high: number
}

/** What continuations from one step came to. */
export interface StepValue {
  /** How many steps of the episode come before: 0 for its start. */
  readonly step: number
  readonly count: number
  /** The share of successes, or the mean of outcomes from 0 to 1. */
  readonly rate: number
  /** With 95 % confidence. */
  readonly interval: Interval
}

export interface Drop {
  readonly value: number
  readonly interval: Interval
}

/**
 * Returns the value of a step with Wilson's interval. For outcomes between 0 and 1 it is a wider one than they need: no
 * distribution on [0, 1] has a larger variance than that of successes with the same mean (Bhatia & Davis, "A Better
 * Bound on the Variance", 2000).
 *
 * @param outcomes - at least one.
 */
export function toStepValue(step: number, outcomes: readonly number[]): StepValue {
  const count = outcomes.length
  const rate = outcomes.reduce((sum, outcome) => sum + outcome, 0) / count
  return { step, count, rate, interval: wilson(rate, count) }
}

/**
 * Returns how much lower one value is than another, with the 95 % interval of a difference of two independent shares.
 *
 * Newcombe, "Interval estimation for the difference between independent proportions: comparison of eleven methods",
 * Statistics in Medicine 17 (1998), method 10: square and add.
 */
export function dropOf(before: StepValue, after: StepValue): Drop {
  const value = before.rate - after.rate
  return {
    value,
    interval: {
      low: value - Math.hypot(before.rate - before.interval.low, after.interval.high - after.rate),
      high: value + Math.hypot(before.interval.high - before.rate, after.rate - after.interval.low),
    },
  }
}
