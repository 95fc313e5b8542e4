import { pairFigure, SHARES } from '@episodic/analysis/compare/paired-figure'
import { createRate, wilson } from '@episodic/report/fold/clustered-rate'
import { clusteredMean, differenceOfMeans } from '@episodic/report/fold/statistics'

/** What an episode came to: 0 or 1 for its success, or its return. */
export interface Outcome {
  readonly point: number
  readonly value: number
}

/** A mean of continuations beside that of their control. */
export interface Difference {
  readonly control: number
  readonly changed: number
  readonly difference: number
  /** The 95 % interval; `null` if there are too few. */
  readonly low: number | null
  readonly high: number | null
}

/**
 * Compares the shares of success. From one point, the interval is that of {@link dropOf}. From several, it is that of
 * the differences of the points, as in a comparison of runs. Returns `null` without a value on both sides.
 */
export function compareShares(control: readonly Outcome[], changed: readonly Outcome[]): Difference | null {
  if (isOfOnePoint(control, changed)) {
    const [one, other] = [scoreInterval(control), scoreInterval(changed)]
    const { value: difference, ...interval } = dropOf(other, one)
    return { control: one.rate, changed: other.rate, difference, ...interval }
  }
  return comparePoints(control, changed, SHARES)
}

/** A share with its 95 % interval; `null` if there are too few. */
export interface Share {
  readonly rate: number
  readonly low: number | null
  readonly high: number | null
}

/** Returns a share of success: with Wilson's interval from one point, and clustered by points from several. */
export function shareOf(outcomes: readonly Outcome[]): Share | null {
  const rate = createRate()
  const [first] = outcomes
  if (!first) return null
  if (outcomes.every(({ point }) => point === first.point)) return scoreInterval(outcomes)
  for (const { point, value } of outcomes.toSorted((a, b) => a.point - b.point)) rate.add(point, value === 1)
  const { rate: share, low, high } = rate.finish()
  return { rate: share ?? 0, low, high }
}

function scoreInterval(outcomes: readonly Outcome[]) {
  const rate = meanOf(outcomes) ?? 0
  return { rate, ...wilson(rate, outcomes.length) }
}

/**
 * Returns how much lower one share is than another, with the hybrid score interval of independent ones: R. G. Newcombe,
 * "Interval estimation for the difference between independent proportions" (1998), method 10.
 */
export function dropOf(one: ReturnType<typeof scoreInterval>, other: ReturnType<typeof scoreInterval>) {
  const value = one.rate - other.rate
  const low = value - Math.hypot(one.rate - one.low, other.high - other.rate)
  return { value, low, high: value + Math.hypot(one.high - one.rate, other.rate - other.low) }
}

/** Compares mean returns. From one point, by Welch's interval; from several, as {@link compareShares}. */
export function compareMeans(control: readonly Outcome[], changed: readonly Outcome[]): Difference | null {
  const [one, other] = [control, changed].map((outcomes) =>
    clusteredMean(
      outcomes.map(({ value }) => value),
      [...outcomes.keys()],
    ),
  )
  if (!isOfOnePoint(control, changed) || !one || !other) return comparePoints(control, changed)
  return { control: one.mean, changed: other.mean, ...differenceOfMeans(other, one) }
}

function isOfOnePoint(control: readonly Outcome[], changed: readonly Outcome[]): boolean {
  return new Set([...control, ...changed].map(({ point }) => point)).size === 1 && Boolean(control[0] && changed[0])
}

function comparePoints(
  control: readonly Outcome[],
  changed: readonly Outcome[],
  bounds?: readonly [number, number],
): Difference | null {
  const [before, after] = [control, changed].map((outcomes) => Map.groupBy(outcomes, ({ point }) => point))
  const pairs = [...(before ?? [])].flatMap(([point, outcomes]) => {
    const others = after?.get(point)
    return others ? [[meanOf(outcomes) ?? 0, meanOf(others) ?? 0] as const] : []
  })
  const paired = pairFigure(pairs, bounds)
  if (!paired) return null
  const { a, b, difference } = paired
  return { control: a, changed: b, difference: difference.mean, low: difference.low, high: difference.high }
}

/** `null` if there is none. */
export function meanOf(outcomes: readonly Outcome[]): number | null {
  return outcomes.length === 0 ? null : outcomes.reduce((sum, { value }) => sum + value, 0) / outcomes.length
}
