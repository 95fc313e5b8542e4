import { NORMAL_POINTS, studentPoint } from '@episodic/protocol/internal'
import type { Proportion } from './summary.ts'

interface Share {
  readonly rate: number
  readonly variance: number
  readonly clusters: number
  /** Bounds of the effective sample size: if every cluster is one draw, and if every value is. */
  readonly least: number
  readonly most: number
}

/**
 * Creates a fold of a success rate, in constant memory. Its interval is that of {@link shareInterval}: Wilson's if
 * every cluster has one episode, and wider the more the episodes of a cluster are alike.
 */
export function createRate() {
  let [count, successes, clusters, current] = [0, 0, 0, -1]
  let [size, won] = [0, 0]
  let [sizes, products, squares] = [0, 0, 0]
  const close = () => {
    sizes += size ** 2
    products += size * won
    squares += won ** 2
    size = 0
    won = 0
  }
  return {
    /** @param cluster - the same number for the episodes of one task, which have to be adjacent. */
    add(cluster: number, success: boolean) {
      if (cluster !== current) {
        close()
        current = cluster
        clusters += 1
      }
      size += 1
      won += Number(success)
      count += 1
      successes += Number(success)
    },
    finish(): Proportion {
      if (count === 0) return { successes, count, clusters, rate: null, low: null, high: null }
      const rate = successes / count
      const [m2, ms, s2] = [sizes + size ** 2, products + size * won, squares + won ** 2]
      const deviations = Math.max(0, s2 - 2 * rate * ms + rate ** 2 * m2)
      const variance = (clusters / (clusters - 1)) * (deviations / count ** 2)
      const interval = shareInterval({ rate, variance, clusters, least: count ** 2 / m2, most: count })
      return { successes, count, clusters, rate, ...interval }
    },
  }
}

/**
 * The 95 % interval of a share: Wilson's score interval at the effective sample size. That is the number of independent
 * draws with the same variance, reduced by the squared ratio of Student's t for all values and for the clusters,
 * because the variance is estimated from few clusters.
 *
 * The effective size is clamped between `least` and `most`, so the interval has a width at 0 and at 1, where the
 * variance is 0. Without clusters it is plain Wilson.
 *
 * E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical Inference" (1927), without continuity
 * correction; Korn & Graubard, "Confidence Intervals for Proportions with Small Expected Number of Positive Counts
 * Estimated from Survey Data" (1998), for the effective sample size; Kish, "Survey Sampling" (1965), for its lower
 * bound (Σm)² / Σm² with clusters of sizes m.
 */
export function shareInterval({ rate, variance, clusters, least, most }: Share): {
  readonly low: number | null
  readonly high: number | null
} {
  if (clusters < 2) return { low: null, high: null }
  const spread = rate * (1 - rate)
  const correction = (studentPoint(most - 1) / studentPoint(clusters - 1)) ** 2
  const worth = ((most / (most - 1)) * spread * correction) / variance
  return wilson(rate, spread === 0 ? least : Math.max(least, Math.min(most, worth)))
}

/**
 * Wilson's score interval of a share.
 *
 * @param size - independent draws; may be fractional.
 */
export function wilson(
  rate: number,
  size: number,
  confidence: keyof typeof NORMAL_POINTS = 0.95,
): { readonly low: number; readonly high: number } {
  const Z = NORMAL_POINTS[confidence]
  const scale = 1 + Z ** 2 / size
  const centre = (rate + Z ** 2 / (2 * size)) / scale
  const half = (Z * Math.sqrt((rate * (1 - rate)) / size + Z ** 2 / (4 * size ** 2))) / scale
  // Exactly 0 and 1 at the ends, despite rounding.
  return { low: rate === 0 ? 0 : centre - half, high: rate === 1 ? 1 : centre + half }
}

export interface GroupRate extends Proportion {
  readonly failed: number
}

export function createRates<Group extends string | number>() {
  const groups = new Map<Group, { readonly rate: ReturnType<typeof createRate>; failed: number }>()
  const groupOf = (name: Group) => {
    const group = groups.get(name) ?? { rate: createRate(), failed: 0 }
    groups.set(name, group)
    return group
  }
  return {
    /** @param task - the same number for the episodes of one task, which have to come one after the other. */
    add: (group: Group, task: number, success: boolean) => groupOf(group).rate.add(task, success),
    addFailed(group: Group) {
      groupOf(group).failed += 1
    },
    /** The groups in ascending order. One whose episodes have all failed has no rate. */
    entries: () =>
      [...groups]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([group, { rate, failed }]): [Group, GroupRate] => [group, { ...rate.finish(), failed }]),
  }
}
