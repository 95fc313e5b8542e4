import type { EpisodeRecord, Step } from '@episodic/protocol'

/**
 * Returns the sums of an episode's rewards, in the order of the steps.
 *
 * `discounted` is G₀ = Σ γ^t r_t with t from 0 (Sutton & Barto, Reinforcement Learning, 2nd ed., eq. 3.8).
 *
 * @param discount γ, from 0 to 1.
 */
export function returnsOf(
  steps: readonly Pick<Step, 'reward'>[],
  discount: number,
): NonNullable<EpisodeRecord['returns']> {
  let total = 0
  let shaping = 0
  let discounted = 0
  let weight = 1
  for (const { reward } of steps) {
    total += reward.total
    shaping += reward.shaping
    discounted += weight * reward.total
    weight *= discount
  }
  return { total, unshaped: total - shaping, discounted }
}
