import type { LossName } from './network/losses.ts'

/** The seeds of every curve. None of them was trained with before all hyperparameters were fixed. */
export const SEEDS = ['31', '32', '33', '34', '35'] as const

/**
 * The seeds that the hyperparameters were chosen with, in short trials by hand. No curve over several seeds has them.
 */
export const TUNING_SEEDS = ['1', '2', '3', '4', '11', '21', '22', '23', '24', '25', 'tuning-1'] as const

export interface Hyperparameters {
  /** Episodes of a training; a game counts as one. */
  readonly episodes: number
  /** Episodes that are played at once, by the same parameters; then one update follows. */
  readonly batch: number
  /** Units of the hidden layer. */
  readonly hidden: number
  readonly loss: LossName
  /** Passes over the steps of a batch. */
  readonly epochs: number
  /** Steps of one gradient; `Infinity`: all steps of the batch. */
  readonly minibatch: number
  /** At the start; it falls to 0 in a straight line. */
  readonly learningRate: number
  /** γ. */
  readonly discount: number
  /** λ of generalized advantage estimation; 1 gives returns less the baseline. */
  readonly lambda: number
  /** Whether the advantages of a batch are scaled to the standard deviation 1. */
  readonly normalize: boolean
  /** Weight of the entropy in the loss, at the start and at the end of the training. */
  readonly entropy: readonly [number, number]
}

export type AlgorithmName = 'reinforce' | 'ppo'
export type WorldName = 'frozen-lake' | 'taxi' | 'kuhn-poker'

const REINFORCE = {
  loss: 'reinforce',
  epochs: 1,
  minibatch: Number.POSITIVE_INFINITY,
  lambda: 1,
  normalize: false,
} as const
const PPO = { loss: 'ppo', epochs: 4, minibatch: 512, lambda: 0.95, normalize: true } as const

const FROZEN_LAKE = { episodes: 8_000, batch: 32, hidden: 32, discount: 0.99, entropy: [0.1, 0] } as const
// With less entropy at the start, both soon stop to pick passengers up: a beginner is fined for nearly every try.
const TAXI = { episodes: 4_800, batch: 16, hidden: 64, discount: 0.95, lambda: 0.8, entropy: [0.1, 0] } as const
const KUHN_POKER = { episodes: 16_000, batch: 32, hidden: 32, discount: 1, entropy: [0.4, 0.1] } as const

/**
 * Everything that is chosen about a training. It was chosen with `TUNING_SEEDS`, and fixed for a world and algorithm
 * before its first training with one of `SEEDS`.
 */
export const HYPERPARAMETERS: Readonly<Record<WorldName, Readonly<Record<AlgorithmName, Hyperparameters>>>> = {
  'frozen-lake': {
    reinforce: { ...FROZEN_LAKE, ...REINFORCE, normalize: true, learningRate: 0.04 },
    ppo: { ...FROZEN_LAKE, ...PPO, learningRate: 0.005 },
  },
  taxi: {
    reinforce: { ...REINFORCE, ...TAXI, normalize: true, learningRate: 0.01 },
    ppo: { ...PPO, ...TAXI, learningRate: 0.01, minibatch: 256 },
  },
  'kuhn-poker': {
    reinforce: { ...KUHN_POKER, ...REINFORCE, learningRate: 0.01 },
    ppo: { ...KUHN_POKER, ...PPO, learningRate: 0.003, normalize: false },
  },
}
