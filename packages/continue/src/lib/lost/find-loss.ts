import { type Drop, dropOf, type StepValue, toStepValue } from './step-value.ts'

export interface LossQuestion {
  /** How many steps the episode has, from 1. */
  readonly steps: number
  /** The episode's own outcome, which is the value after its last step. `null` if it is not known. Of 1 nothing is lost. */
  readonly end: number | null
  /**
   * Continues the episode `count` more times after its first `step` steps, from 0 to `steps` − 1.
   *
   * @returns the outcomes, at least one, each from 0 to 1: successes, or returns on a scale that was fixed before.
   */
  outcomesAt(step: number, count: number): Promise<readonly number[]>
  /** How many continuations are played at most. */
  readonly budget: number
  /** How many are played at a time while it searches, if the budget is not too small for it. */
  readonly rollouts: number
}

export type Loss = FoundLoss | NoLoss

export interface FoundLoss {
  readonly kind: 'lost'
  /** The step at which it was lost, from 1. */
  readonly step: number
  /** The values before and after this step, of fresh continuations alone. */
  readonly before: StepValue
  readonly after: StepValue
  readonly drop: Drop
  /** The value of each step from which was continued, of all its continuations, in the order of steps. */
  readonly curve: readonly StepValue[]
}

/**
 * Why no step is named:
 * - `no-chance`: hardly a continuation succeeds, from whichever step;
 * - `not-lost`: it was won, or continuations from its last step do not measurably worse than those from its start;
 * - `gradual`: the value falls, and no single step takes most of it;
 * - `budget`: one step seems to, which too few continuations show.
 */
export interface NoLoss {
  readonly kind: 'cannot-tell'
  readonly why: 'no-chance' | 'not-lost' | 'gradual' | 'budget'
  readonly curve: readonly StepValue[]
}

/** A search without a fall in sight gives up when it has looked at the ends and at three steps between. */
const LOOKS_FOR_A_FALL = 5
/** The ratio of likelihoods, as a logarithm, from which a fall is in sight. */
const FALL_IN_SIGHT = 1
/** A step is tried when it is as probable as this. */
const SURE = 0.95
/** The most that a hopeless episode is worth. */
const HARDLY = 0.05

/**
 * Finds the step of an episode at which most of its value was lost: the step before which continuations succeed, and
 * after which they do not. It asks the same questions in the same order of the same outcomes.
 *
 * With at most half of the budget it looks for the step: at the start, before the last step, and then at the step that
 * halves where the value can have fallen, as a posterior over change points says. With the rest it continues anew from
 * before and after the step that it found, as often from each. The step is named if the drop between them is above zero
 * with 95 % confidence, and, by all that was played, most of the fall from the start to before the last step.
 *
 * The search may choose its step by luck. What decides is played after the choice, as many continuations as are left
 * whatever they come to, and tests one step alone. So of the steps that might have been chosen, however many, a step
 * without a drop is named with a probability of at most 5 %.
 *
 * Cox, "A note on data-splitting for the evaluation of significance levels", Biometrika 62 (1975); Burnashev &
 * Zigangirov, "An interval estimation problem for controlled observations" (1974), for halving a posterior.
 */
export async function findLoss({ steps, end, outcomesAt, budget, rollouts }: LossQuestion): Promise<Loss> {
  const outcomes = new Map<number, number[]>()
  const looks = Math.log2(steps) + 3
  const batch = Math.max(1, Math.min(rollouts, Math.floor(budget / 2 / looks)))
  let left = budget
  const play = async (step: number, count: number) => {
    left -= count
    const fresh = await outcomesAt(step, count)
    outcomes.set(step, [...(outcomes.get(step) ?? []), ...fresh])
    return toStepValue(step, fresh)
  }
  const curveOf = () => [...outcomes].sort(([a], [b]) => a - b).map(([step, own]) => toStepValue(step, own))
  const cannotTell = (why: NoLoss['why']): NoLoss => ({ kind: 'cannot-tell', why, curve: curveOf() })
  if (end === 1) return cannotTell('not-lost')
  if (budget < 4) return cannotTell('budget')

  for (const step of new Set([0, steps - 1])) await play(step, batch)
  let fall = findFall(curveOf(), steps, end)
  while (left - batch >= budget / 2 && fall.chance < SURE) {
    const curve = curveOf()
    const [first, last] = [curve[0] as StepValue, curve.at(-1) as StepValue]
    const isWide = curve.length < Math.min(LOOKS_FOR_A_FALL, steps)
    if (fall.ratio >= FALL_IN_SIGHT && fall.step < steps) await play(fall.next, batch)
    else if (isWide) await play(middleOfWidestGap(curve), batch)
    else if (last.rate < first.rate && fall.step < steps) await play(first.count > last.count ? last.step : 0, batch)
    else break
    fall = findFall(curveOf(), steps, end)
  }

  if (curveOf().every(({ rate }) => rate <= HARDLY)) return cannotTell('no-chance')
  if (fall.ratio < FALL_IN_SIGHT && fall.step < steps) return cannotTell('not-lost')
  const { step } = fall
  const share = Math.floor(left / 2)
  const before = await play(step - 1, share)
  const own = { step, count: 1, rate: end ?? 0, interval: { low: end ?? 0, high: end ?? 0 } }
  const after = step < steps ? await play(step, share) : own
  const drop = dropOf(before, after)
  const curve = curveOf()
  const [from, to] = [curve[0] as StepValue, step < steps ? (curve.at(-1) as StepValue) : own]
  const isMost = drop.value > (from.rate - to.rate) / 2
  if (drop.interval.low > 0 && isMost) return { kind: 'lost', step, before, after, drop, curve }
  if (dropOf(from, to).interval.low <= 0) return cannotTell('not-lost')
  const isBetween = (value: StepValue) => dropOf(from, value).interval.low > 0 && dropOf(value, to).interval.low > 0
  return cannotTell(!isMost && curve.some(isBetween) ? 'gradual' : 'budget')
}

interface Fall {
  /** The step at which the value fell, most probably, and how probable that is. */
  readonly step: number
  readonly chance: number
  /** By how much more likely the outcomes are with this fall than with no change at all, as a logarithm. */
  readonly ratio: number
  /** Where to look next: from after how many steps. */
  readonly next: number
}

/**
 * Finds the change point of a value that is one constant before a step and a lower one after it. It is the last step if
 * the end is far below both: twice, since an end is one outcome, and what was likely to fail may fail there by chance.
 */
function findFall(curve: readonly StepValue[], steps: number, end: number | null): Fall {
  const all = sumOf(curve)
  const ratios: number[] = [Number.NEGATIVE_INFINITY]
  for (let step = 1; step < steps; step++) {
    const [before, after] = sidesOf(curve, step)
    const falls = meanOf(before) > meanOf(after)
    ratios.push(falls ? likelihood(before) + likelihood(after) - likelihood(all) : Number.NEGATIVE_INFINITY)
  }
  const ratio = Math.max(...ratios)
  if (ratio === Number.NEGATIVE_INFINITY)
    return { step: end !== null && end < meanOf(all) ? steps : 0, chance: 0, ratio, next: 0 }
  const weights = ratios.map((own) => Math.exp(own - ratio))
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  let [below, next, nearest] = [0, 0, Number.POSITIVE_INFINITY]
  for (const [at, weight] of weights.entries()) {
    below += weight / total
    if (Math.abs(below - 0.5) >= nearest) continue
    nearest = Math.abs(below - 0.5)
    next = at
  }
  const step = weights.indexOf(1)
  const [before, after] = sidesOf(curve, step).map(meanOf) as [number, number]
  const isAtEnd = end !== null && after - end > 2 * (before - after)
  return { step: isAtEnd ? steps : step, chance: 1 / total, ratio, next }
}

function sidesOf(curve: readonly StepValue[], step: number): [Sum, Sum] {
  return [sumOf(curve.filter((value) => value.step < step)), sumOf(curve.filter((value) => value.step >= step))]
}

const meanOf = ({ won, count }: Sum) => won / count

interface Sum {
  readonly won: number
  readonly count: number
}

function sumOf(curve: readonly StepValue[]): Sum {
  return curve.reduce((sum, { rate, count }) => ({ won: sum.won + rate * count, count: sum.count + count }), {
    won: 0,
    count: 0,
  })
}

/** The logarithm of the largest likelihood of outcomes with one value. */
function likelihood({ won, count }: Sum): number {
  const part = (share: number) => (share <= 0 ? 0 : share * Math.log(share / count))
  return part(won) + part(count - won)
}

function middleOfWidestGap(curve: readonly StepValue[]): number {
  const gaps = curve.slice(1).map(({ step }, i) => ({ from: (curve[i] as StepValue).step, to: step }))
  const { from, to } = gaps.reduce((widest, gap) => (gap.to - gap.from > widest.to - widest.from ? gap : widest))
  return Math.floor((from + to) / 2)
}
