import type { JsonObject } from '@episodic/protocol'

/** How a reference is measured here, so that a program can do it. */
export type Measure =
  /** The SHA-256 of the transition table that the rules give. */
  | { readonly kind: 'table' }
  /** The exact expected return of the best policy, or of uniformly random actions, within the limit of steps. */
  | { readonly kind: 'expected-return'; readonly policy: 'optimal' | 'uniform' }
  /** The mean return of many episodes, played through a server. */
  | { readonly kind: 'played'; readonly policy: 'solver' | 'random' }
  /** Of a game: the number of information sets of each seat. */
  | { readonly kind: 'information-sets' }
  /** The number of ways in which an episode of a game ends. */
  | { readonly kind: 'ends' }
  /** What the first seat of a game is expected to earn; or what its seats gain by their best responses, in sum. */
  | { readonly kind: 'game-value' | 'nash-conv'; readonly profile: 'uniform' | 'equilibrium' }

/** A value of an environment that somebody else published, or that follows from what they published. */
export interface Reference {
  /** Unique within its world, for example `dry/optimal`. */
  readonly id: string
  readonly params: JsonObject
  /** What the value is, for people. */
  readonly quantity: string
  readonly value: number | string | readonly number[]
  /** How far a measured value may be: not at all, a difference, or the 99.9 % confidence interval of a mean. */
  readonly tolerance: 'exact' | number | 'interval'
  readonly source: string
  readonly how: Measure
}
