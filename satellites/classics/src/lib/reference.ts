import type { JsonObject } from '@episodic/protocol'

/** How a reference is measured here, so that a program can do it. */
export type Measure =
  /** The SHA-256 of the transition table that the rules give. */
  | { readonly kind: 'table' }
  /**
   * The exact expected return of the best policy, of uniformly random actions, or of one of the world's strategies.
   * `steps` is the limit of steps, `null` for none.
   */
  | {
      readonly kind: 'expected-return'
      readonly policy: 'optimal' | 'uniform' | { readonly strategy: string }
      readonly steps: number | null
      readonly discount?: number
    }
  /** The number of steps of an episode that a strategy plays, and the numbers of the last state. */
  | { readonly kind: 'trajectory'; readonly strategy: string }
  /** The mean return of many episodes, played through a server. */
  | { readonly kind: 'played'; readonly policy: 'solver' | 'random' }

/** A value of an environment that somebody else published, or that follows from what they published. */
export interface Reference<How = Measure> {
  /** Unique within its world, for example `dry/optimal`. */
  readonly id: string
  /** The parameters that it holds for. */
  readonly params: JsonObject
  /** What the value is, for people. */
  readonly quantity: string
  /** A number, a hash, several numbers, or those of a trajectory: its steps, then the last state. */
  readonly value: number | string | readonly number[]
  /**
   * How far a measured value may be from it: not at all, an absolute difference, or the 99.9 % confidence interval of a
   * mean.
   */
  readonly tolerance: 'exact' | number | 'interval'
  /** Who says so. */
  readonly source: string
  readonly how: How
}
