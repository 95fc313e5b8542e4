import type { Action, EpisodeEnd, SessionSnapshot } from '@episodic/protocol'
import type { SeatResult } from '@episodic/protocol/internal'
import type { MatchOptions, MatchStep } from '../game/match.ts'
import type { ModelAnswer, Policy, PolicyContext } from '../policy/policy.ts'
import type { Playable } from '../session/call-options.ts'
import type { StepResult } from '../session/step-result.ts'
import type { Environment, ResetResult } from './environment.ts'

export interface PlayedStep extends StepResult, Pick<MatchStep, 'action' | 'completions'> {
  /** From sending the action to receiving the answer. */
  readonly milliseconds: number
}

/**
 * One play of a task. A failed episode is a fault: it is counted apart and never averaged in as a zero. What the player
 * does is no fault: one that stops has finished its episode, truncated and without success.
 */
export type Episode =
  | {
      readonly kind: 'finished'
      readonly start: ResetResult
      readonly steps: readonly PlayedStep[]
      readonly end: EpisodeEnd
      /** As the environment defines it; undefined if it defines none, and `false` if the player stopped. */
      readonly success?: boolean | undefined
      /** The further verdicts of the environment, also on what a player that stopped has left. */
      readonly verdicts?: { readonly [name: string]: boolean } | undefined
      /** That the player ended the episode, and why. */
      readonly stopped?: SeatResult['stopped']
      readonly undecided?: readonly ModelAnswer[] | undefined
    }
  | {
      readonly kind: 'failed'
      readonly start: ResetResult | null
      readonly steps: readonly PlayedStep[]
      readonly cause: unknown
      /** The answers of a language model since the last step, which led to no step. */
      readonly undecided: readonly ModelAnswer[]
    }

/** Where an episode goes on from, in place of its start: a step of another one, which shares its world. */
export interface EpisodeOrigin {
  /** The world after that step. */
  readonly snapshot: SessionSnapshot
  /** The start of the other episode, and its steps up to there: what the player is handed. */
  readonly start: ResetResult
  readonly steps: readonly PlayedStep[]
  /** Played first, in place of an action of the player. */
  readonly call?: Action | undefined
  /** What the player reads, in place of the text of the last answer. */
  readonly answer?: string | undefined
}

export interface EpisodeOptions extends Pick<MatchOptions, 'seed' | 'signal' | 'now'> {
  readonly createEnvironment: () => Environment
  readonly policy: Policy
  /** Default: `null`, it starts anew. */
  readonly origin?: EpisodeOrigin | null | undefined
  readonly task?: Playable & Partial<Pick<PolicyContext['task'], 'prompt' | 'hints'>>
  /** Seed of the policy. Default: the policy's name. */
  readonly policySeed?: string | undefined
}
