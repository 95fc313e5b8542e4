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
 * Returns what episodes say of the success rate of a player on these very tasks, which all count alike, however often
 * they finished. `null` before two rounds, which say how much rollouts differ. It says nothing of tasks not played.
 *
 * Waudby-Smith, Arbour, Sinha, Kennedy & Ramdas, "Time-uniform central limit theory and asymptotic confidence
 * sequences", Annals of Statistics 52 (2024), theorem 2.2 and equation 10: σ √(2 (N ρ² + 1) / (N ρ)² · ln(√(N ρ² + 1) /
 * α)) after N episodes, the narrowest at the size that ρ is chosen for. σ² is half of the share of pairs of rollouts of
 * a task that differ; tasks weigh as in the variance of the mean over them, and N is the episodes of equal numbers that
 * have that variance.
 *
 * @param narrowest - episodes after which the interval is to be the narrowest. Default: after these.
 */
export function rateEvidence(tasks: Iterable<Attempts>, narrowest?: number): RateEvidence | null {
  const all = [...tasks].filter(({ finished }) => finished > 0)
  const again = all.filter(({ finished }) => finished > 1)
  if (again.length === 0) return null
  const sum = (value: (task: Attempts) => number, of = all) => of.reduce((total, task) => total + value(task), 0)
  const share = ({ finished }: Attempts) => 1 / finished
  const count = all.length ** 2 / sum(share)
  const weight = sum(share, again)
  // The pairs of n rollouts are worth n − 1 independent ones.
  const added = (ADDED * weight) / sum(({ finished }) => finished - 1, again)
  const differing = sum(({ finished: n, successes: won }) => (2 * won * (n - won)) / (n * n * (n - 1)), again)
  const tight = (-2 * Math.log(RISK) + Math.log(-2 * Math.log(RISK)) + 1) / (narrowest ?? count)
  const spread = count * tight + 1
  const variance = ((spread / (count ** 2 * tight)) * (differing + added)) / (weight + added) / 2
  const rate = sum(({ finished, successes }) => successes / finished) / all.length
  return { rate, variance, mixture: Math.log(spread) / 2 }
}

/**
 * Returns a success rate with an interval that may be looked at after every round of its tasks: the chance that it ever
 * leaves out the true rate is about 5 %. `null` before two rounds.
 *
 * @param narrowest - episodes after which the interval is to be the narrowest.
 */
export function knownRate(tasks: Iterable<Attempts>, narrowest: number): KnownRate | null {
  const found = rateEvidence(tasks, narrowest)
  return found && { rate: found.rate, half: halfOf(found) }
}

/**
 * Returns the difference of a rate from that of a baseline, on the same tasks, with such an interval. The product of
 * two independent mixtures is one for both rates at once, so its ellipse holds them at all times with the same risk,
 * and the interval is what the ellipse covers of their difference.
 */
export function knownDifference(own: RateEvidence, baseline: RateEvidence): KnownRate {
  const half = halfOf({ variance: own.variance + baseline.variance, mixture: own.mixture + baseline.mixture })
  return { rate: own.rate - baseline.rate, half }
}

/** Returns half the width of an interval: a difference is never known better than its baseline, which does not grow. */
export function halfOf({ variance, mixture }: Pick<RateEvidence, 'variance' | 'mixture'>): number {
  return Math.sqrt(2 * variance * (mixture - Math.log(RISK)))
}

/** Episodes after which an interval of a wanted half width is the narrowest, and its run likely to end. */
export function episodesFor(half: number): number {
  return (3 * (USUAL / half)) ** 2
}
