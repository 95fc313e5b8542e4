import { numpy as np, type Array as Tensor } from '@jax-js/jax'
import type { Loss } from './network.ts'

/** What a loss reads of each step. Steps of weight 0 fill the last minibatch and change nothing. */
export type LossColumns = {
  /** 1 for the action that was taken, 0 for the others. */
  taken: Tensor
  /** The logarithm of the probability that it was drawn with. */
  drawnWith: Tensor
  advantages: Tensor
  /** What the value head should have said. */
  targets: Tensor
  /** 1 divided by the number of steps, or 0. */
  weights: Tensor
  /** The weight of the entropy, the same in every row. */
  entropy: Tensor
}

export type LossName = 'reinforce' | 'ppo'

/** The weight of the value's squared error. */
const VALUE_WEIGHT = 0.5

/** How far PPO lets the probability of an action move from what it was drawn with, as a share of it. */
const CLIP = 0.2

/** The losses of both algorithms: a policy loss of their own, the squared error of the value, and the entropy. */
export const LOSSES: Readonly<Record<LossName, Loss<LossColumns>>> = {
  // Williams, "Simple statistical gradient-following algorithms for connectionist reinforcement learning" (1992).
  reinforce: lossWith((logProbability, { drawnWith, advantages }) => {
    drawnWith.dispose()
    return logProbability.mul(advantages)
  }),
  // Schulman and others, "Proximal policy optimization algorithms" (2017), equation 7.
  ppo: lossWith((logProbability, { drawnWith, advantages }) => {
    const ratio = np.exp(logProbability.sub(drawnWith))
    const clipped = np.clip(ratio.ref, 1 - CLIP, 1 + CLIP)
    return np.minimum(ratio.mul(advantages.ref), clipped.mul(advantages))
  }),
}

/** Each tensor is freed by its last use: `ref` says that another one follows. */
function lossWith(
  gain: (logProbability: Tensor, columns: Pick<LossColumns, 'drawnWith' | 'advantages'>) => Tensor,
): Loss<LossColumns> {
  return ({ logProbabilities, values }, { taken, targets, weights, entropy, ...columns }) => {
    const logProbability = logProbabilities.ref.mul(taken).sum(-1)
    const entropies = np.exp(logProbabilities.ref).mul(logProbabilities).sum(-1).neg()
    const errors = np.square(values.sub(targets)).mul(VALUE_WEIGHT)
    const losses = errors.sub(gain(logProbability, columns)).sub(entropies.mul(entropy))
    return losses.mul(weights).sum()
  }
}
