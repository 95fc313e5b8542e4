import type { Trajectory } from '../episodes/trajectory.ts'

/** What each step of a trajectory was worth, beside what the value head expected. */
export interface Advantages {
  readonly advantages: readonly number[]
  /** The value that the value head should have said. */
  readonly targets: readonly number[]
}

/**
 * Generalized advantage estimation (Schulman and others, "High-dimensional continuous control using generalized
 * advantage estimation", 2016, equation 16). With λ = 1, an advantage is the discounted return less the value.
 *
 * @param values The value at each step, and behind them that of the input after a cut; 0 after an end by the rules.
 */
export function advantagesOf(
  { rewards }: Pick<Trajectory, 'rewards'>,
  values: ArrayLike<number>,
  { discount, lambda }: { readonly discount: number; readonly lambda: number },
): Advantages {
  const advantages = new Array<number>(rewards.length).fill(0)
  let next = 0
  for (let step = rewards.length - 1; step >= 0; step--) {
    const surprise = (rewards[step] as number) + discount * (values[step + 1] as number) - (values[step] as number)
    next = surprise + discount * lambda * next
    advantages[step] = next
  }
  return { advantages, targets: advantages.map((advantage, step) => advantage + (values[step] as number)) }
}
