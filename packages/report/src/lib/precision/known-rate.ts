import type { Attempts } from '../noise/noise-floor.ts'

/** Risk that the interval ever leaves the true rate out. */
const RISK = 0.05
/** Deviation of an episode around the chance of its task for which intervals of a wanted width are the narrowest. */
const USUAL = 0.4
/** Pairs that differ, added to those that were played: of few that differ the deviation would be too small. */
const ADDED = 2

/** A success rate of the tasks that are played, or the difference of two, and half the width of its interval. */
export interface KnownRate {
  readonly rate: number
  readonly half: number
}

/** What episodes say of a rate: its interval holds all rates whose `distance² / 2 variance − mixture` is small. */
export interface RateEvidence {
  readonly rate: number
  readonly variance: number
  readonly mixture: number
}

/**
 * Returns what episodes say of the success rate of a player on these very tasks. `null` before two rounds, which say
 * how much the rollouts of a task differ. It says nothing of tasks that are not played.
 *
 * Waudby-Smith, Arbour, Sinha, Kennedy & Ramdas, "Time-uniform central limit theory and asymptotic confidence
 * sequences", Annals of Statistics 52 (2024), theorem 2.2 and equation 10: σ √(2 (N ρ² + 1) / (N ρ)² · ln(√(N ρ² + 1) /
 * α)) after N episodes, the narrowest at the size that ρ is chosen for. σ² is half of the share of pairs of rollouts of
 * a task that differ.
 *
 * @param narrowest - episodes after which the interval is to be the narrowest. Default: after these.
 */
export function rateEvidence(tasks: Iterable<Attempts>, narrowest?: number): RateEvidence | null {
  let [count, successes, pairs, differing] = [0, 0, ADDED, ADDED]
  for (const { finished, successes: won } of tasks) {
    count += finished
    successes += won
    if (finished < 2) continue
    // The pairs of n rollouts are worth n − 1 independent ones.
    pairs += finished - 1
    differing += (2 * won * (finished - won)) / finished
  }
  if (pairs === ADDED) return null
  const tight = (-2 * Math.log(RISK) + Math.log(-2 * Math.log(RISK)) + 1) / (narrowest ?? count)
  const spread = count * tight + 1
  const variance = ((spread / (count ** 2 * tight)) * differing) / pairs / 2
  return { rate: successes / count, variance, mixture: Math.log(spread) / 2 }
}

/**
 * Returns a success rate with an interval that may be looked at after every round of its tasks: the chance that it ever
 * leaves out the true rate is about 5 %. `null` before two rounds.
 *
 * @param narrowest - episodes after which the interval is to be the narrowest.
 */
export function knownRate(tasks: Iterable<Attempts>, narrowest: number): KnownRate | null {
  const found = rateEvidence(tasks, narrowest)
  return found && { rate: found.rate, half: halfOf(found.variance, found.mixture) }
}

/**
 * Returns the difference of a rate from that of a baseline, on the same tasks, with such an interval. The product of
 * two independent mixtures is one for both rates at once, so its ellipse holds them at all times with the same risk,
 * and the interval is what the ellipse covers of their difference.
 */
export function knownDifference(own: RateEvidence, baseline: RateEvidence): KnownRate {
  const half = halfOf(own.variance + baseline.variance, own.mixture + baseline.mixture)
  return { rate: own.rate - baseline.rate, half }
}

/** Returns the half that no number of episodes goes below, because the baseline does not grow. */
export function leastHalf({ variance, mixture }: RateEvidence): number {
  return halfOf(variance, mixture)
}

function halfOf(variance: number, mixture: number): number {
  return Math.sqrt(2 * variance * (mixture - Math.log(RISK)))
}

/** Episodes after which an interval of a wanted half width is the narrowest, and its run likely to end. */
export function episodesFor(half: number): number {
  return (3 * (USUAL / half)) ** 2
}
