import { wilson } from '@episodic/report/fold/clustered-rate'
import { dropOf } from '../compare/difference.ts'

export interface LossQuestion {
  /** After how many steps of the episode it looks at the earliest; fewer than `steps`. */
  readonly from: number
  readonly steps: number
  /** The episode's own outcome, which is the value after its last step; `null` if it has none. Of 1 nothing is lost. */
  readonly end: number | null
  /**
   * Continues the episode `count` more times after `step` of its steps, fewer than all. Resolves with the outcomes, at
   * least one, each from 0 to 1: successes, or returns on a scale that was fixed before.
   */
  outcomesAt(step: number, count: number): Promise<readonly number[]>
  /** How many continuations are played at most, and how many at a time while it searches, if the budget allows it. */
  readonly budget: number
  readonly rollouts: number
}

/** The mean outcome of continuations after `step` steps, with its 95 % interval. The end is known and has no width. */
export type StepValue = Readonly<ReturnType<typeof toValue>>

/**
 * The step at which an episode was lost, from 1, with the values before and after it, of fresh continuations alone. Or
 * why none is named: `no-chance`, hardly a continuation succeeds from any step; `not-lost`, it was won, or they do not
 * measurably worse from its last step than from its start; `gradual`, the value falls in several steps, and none was
 * found that takes most of it; `budget`, the value falls, and too few continuations show where.
 *
 * The curve has the value of each step from which was continued, of all its continuations, in the order of steps.
 */
export type Loss = { readonly curve: readonly StepValue[] } & (
  | {
      readonly kind: 'lost'
      readonly step: number
      readonly before: StepValue
      readonly after: StepValue
      readonly drop: ReturnType<typeof dropOf>
    }
  | { readonly kind: 'cannot-tell'; readonly why: WhyNot }
)
type WhyNot = 'no-chance' | 'not-lost' | 'gradual' | 'budget'

/** Where it looks first, as shares of the way from the start to before the last step. */
const FIRST_LOOKS = [0, 0.25, 0.5, 0.75, 1]
/** A value that is hardly any. */
const HARDLY = 0.05
/** The logarithm of a ratio of likelihoods from which a fall is in sight. */
const IN_SIGHT = 1
/** How probable a step has to be to be tried before half of the budget is spent. */
const SURE = 0.95

/**
 * Finds the step of an episode at which most of its value was lost. Asks the same if the outcomes are the same.
 *
 * With half of the budget it looks for the step: at the start, before the last step, at three between, and then at the
 * step that halves where the value can have fallen, as a posterior over change points says. With the rest it continues
 * anew from before and after the step that it found, as often from each. The step is named if the drop between them is
 * above zero with 95 % confidence, and, by all that was played, most of the fall from the start to the last step.
 *
 * The search may choose its step by luck. What decides is played after the choice, as many continuations as are left
 * whatever they come to, and tests one step alone. So of the steps that might have been chosen, however many, a step
 * without a drop is named with a probability of at most 5 %.
 *
 * Cox, "A note on data-splitting for the evaluation of significance levels", Biometrika 62 (1975); Burnashev &
 * Zigangirov, "An interval estimation problem for controlled observations" (1974), for halving a posterior.
 */
export async function findLoss(question: LossQuestion): Promise<Loss> {
  const { from, steps, end, outcomesAt, budget, rollouts } = question
  const batch = Math.max(1, Math.min(rollouts, Math.floor(budget / 2 / (Math.log2(steps - from) + 4))))
  const outcomes = new Map<number, readonly number[]>()
  let left = budget
  const play = async (step: number, count: number) => {
    left -= count
    const fresh = await outcomesAt(step, count)
    outcomes.set(step, [...(outcomes.get(step) ?? []), ...fresh])
    return toValue(step, fresh)
  }
  const curveOf = () => [...outcomes].sort(([a], [b]) => a - b).map(([step, own]) => toValue(step, own))
  const endsOf = (curve: readonly StepValue[]) => [curve[0], curve.at(-1)] as [StepValue, StepValue]
  const cannotTell = (why: WhyNot): Loss => ({ kind: 'cannot-tell', why, curve: curveOf() })
  if (end === 1) return cannotTell('not-lost')
  if (budget < 10) return cannotTell('budget')

  for (const step of new Set(FIRST_LOOKS.map((share) => from + Math.round(share * (steps - 1 - from)))))
    await play(step, batch)
  let fall = findFall(curveOf(), question)
  while (left - batch >= budget / 2 && !(fall.chance >= SURE)) {
    const [first, last] = endsOf(curveOf())
    const isInSight = fall.ratio >= IN_SIGHT
    if (fall.step === steps || (!isInSight && last.rate >= first.rate)) break
    await play(isInSight ? fall.next : (first.count > last.count ? last : first).step, batch)
    fall = findFall(curveOf(), question)
  }

  const { step } = fall
  if (curveOf().every(({ rate }) => rate <= HARDLY)) return cannotTell('no-chance')
  if (fall.ratio < IN_SIGHT && step < steps) return cannotTell('not-lost')
  const share = Math.floor(left / 2)
  const before = await play(step - 1, share)
  const own = { step, count: 1, rate: end ?? 0, low: end ?? 0, high: end ?? 0 }
  const after = step < steps ? await play(step, share) : own
  const drop = dropOf(before, after)
  const curve = curveOf()
  const [start, last] = endsOf(curve)
  const least = step < steps ? last : own
  const isMost = drop.value > (start.rate - least.rate) / 2
  if (drop.low > 0 && isMost) return { kind: 'lost', step, before, after, drop, curve }
  if (dropOf(start, least).low <= 0) return cannotTell('not-lost')
  const isBetween = (value: StepValue) => dropOf(start, value).low > 0 && dropOf(value, least).low > 0
  return cannotTell(!isMost && curve.some(isBetween) ? 'gradual' : 'budget')
}

/** Wilson's interval holds for outcomes between 0 and 1: none vary more than successes of their mean (Bhatia–Davis). */
function toValue(step: number, outcomes: readonly number[]) {
  const count = outcomes.length
  const rate = outcomes.reduce((sum, outcome) => sum + outcome, 0) / count
  return { step, count, rate, ...wilson(rate, count) }
}

/**
 * Finds the step at which a value fell that is one constant before it and a lower one after it, how probable that is,
 * how much more likely than no fall, and where to look next. It is the last step if the end is far below both: twice,
 * since an end is one outcome, and what was likely to fail may fail there by chance.
 */
function findFall(curve: readonly StepValue[], { from, steps, end }: LossQuestion) {
  const all = sumOf(curve)
  const splits = Array.from({ length: steps - from - 1 }, (_, i) => {
    const step = from + 1 + i
    const before = sumOf(curve.filter((value) => value.step < step))
    const after = sumOf(curve.filter((value) => value.step >= step))
    const ratio = before.likelihood + after.likelihood - all.likelihood
    return { step, before, after, ratio: before.mean > after.mean ? ratio : Number.NEGATIVE_INFINITY }
  })
  const none = { step: from, before: all, after: all, ratio: Number.NEGATIVE_INFINITY }
  const best = splits.reduce((most, split) => (split.ratio > most.ratio ? split : most), none)
  const total = splits.reduce((sum, { ratio }) => sum + Math.exp(ratio - best.ratio), 0)
  let [below, next, nearest] = [0, from, 1]
  for (const { step, ratio } of splits) {
    below += Math.exp(ratio - best.ratio) / total
    if (Math.abs(below - 0.5) < nearest) [next, nearest] = [step, Math.abs(below - 0.5)]
  }
  const isAtEnd = end !== null && best.after.mean - end > 2 * (best.before.mean - best.after.mean)
  return { step: isAtEnd ? steps : best.step, chance: 1 / total, ratio: best.ratio, next }
}

/** Returns the mean of outcomes, and the logarithm of the largest likelihood of successes with that mean. */
function sumOf(curve: readonly StepValue[]) {
  const count = curve.reduce((sum, value) => sum + value.count, 0)
  const won = curve.reduce((sum, value) => sum + value.rate * value.count, 0)
  const part = (share: number) => (share <= 0 ? 0 : share * Math.log(share / count))
  return { mean: won / count, likelihood: part(won) + part(count - won) }
}
