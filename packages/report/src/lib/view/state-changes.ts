import type { Json } from '@episodic/protocol'

/** A change of a value in a state: no `before` for what was added, no `after` for what was removed; in order. */
export interface StateChange {
  /** A JSON pointer (RFC 6901). */
  readonly path: string
  readonly before?: Json
  readonly after?: Json
}

export interface StepChanges {
  /** From 0. */
  readonly step: number
  readonly public: readonly StateChange[]
  readonly private: readonly StateChange[]
}

export interface EpisodeStates {
  /**
   * `replayed`: by the rules of the world, each step checked against the hash in the line. `observed`: from structured
   * observations, because the server of another system kept the state. `unavailable`: see `why`.
   */
  readonly source: 'replayed' | 'observed' | 'unavailable'
  /** Why there are no states, or no more of them; `null` if all are there. */
  readonly why: string | null
  /** The first step, from 0, whose state differs from the recorded one; `null` if none does. */
  readonly partsAt: number | null
  readonly start: { readonly public: Json; readonly private: Json } | null
  /** Of every step until `partsAt`. */
  readonly steps: readonly StepChanges[]
}
