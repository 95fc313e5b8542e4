import type { Action, SessionSnapshot, Task } from '@episodic/protocol'
import type { SeatResult } from '@episodic/protocol/internal'
import type { ModelAnswer, Policy } from '../policy/policy.ts'
import type { Playable } from '../session/call-options.ts'
import type { Game, GameStart, SeatStep } from './game.ts'
import type { OutsidePlayer } from './outside-player.ts'

export interface MatchStep extends SeatStep {
  readonly action: Action
  /** The answers of a language model for this step; empty if none was asked. */
  readonly completions: readonly ModelAnswer[]
  /**
   * From sending the action to receiving the answer; `null` for a step that was played from outside, or that the server
   * took for a seat that did not act.
   */
  readonly milliseconds: number | null
  /** When this process learned of the step, by its clock: soon after it was played, if that was from outside. */
  readonly seen: number
}

/**
 * One episode of several seats, with its steps in the order in which they were committed. A failed one is a fault: it
 * is counted apart, for every seat, and no seat has won or lost it.
 *
 * A player that stops is no fault. The rules decide what its seat loses, if they define `absent`. Else the match is cut
 * off: it is truncated for all seats that were playing, for the reason of the player and for the others as `closed`.
 */
export type Match =
  | {
      readonly kind: 'finished'
      readonly start: GameStart
      readonly steps: readonly MatchStep[]
      readonly seats: { readonly [seat: string]: SeatResult }
      readonly undecided?: readonly ModelAnswer[] | undefined
    }
  | {
      readonly kind: 'failed'
      readonly start: GameStart | null
      readonly steps: readonly MatchStep[]
      readonly cause: unknown
      /** The seat whose policy or action failed; `null` if it was no seat's fault. */
      readonly seat: string | null
      /** The answers of a language model in that seat since its last step, which led to no step. */
      readonly undecided: readonly ModelAnswer[]
    }

/** Where a match goes on from, in place of its start: a step of another one, which shares its world. */
export interface MatchOrigin {
  /** The world after that step. */
  readonly snapshot: SessionSnapshot
  /** The start of the other match, and its steps up to there: each player is handed those of its seat. */
  readonly start: GameStart
  readonly steps: readonly (MatchStep & { readonly answer?: string | undefined })[]
  /** Played first, in place of an action of the player of its seat. */
  readonly call?: (Action & { readonly seat: string }) | undefined
  /** What the seats that act next read, in place of all that they would have read. Of an earlier step: its `answer`. */
  readonly answer?: string | undefined
}

export interface MatchOptions {
  readonly createGame: () => Game
  readonly policies: { readonly [seat: string]: Policy | OutsidePlayer }
  /** Default: `null`, it starts anew. */
  readonly origin?: MatchOrigin | null | undefined
  readonly task?: Playable & Partial<Pick<Task, 'prompt' | 'hints' | 'seats'>>
  /** Seed of the environment. Default: the task's. */
  readonly seed?: string | undefined
  /** Seed of the policies: each seat has one of its own, derived from it and the name of the seat. Default: `match`. */
  readonly policySeed?: string | undefined
  readonly signal?: AbortSignal | undefined
  /** Monotonic milliseconds, for the durations of steps. Default: the clock of the machine. */
  readonly now?: () => number
}
