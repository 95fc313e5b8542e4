import type { Action, Completion, EpisodeEnd } from '@episodic/protocol'
import type { Policy, PolicyContext } from '../policy/policy.ts'
import type { Environment, Playable, ResetResult, StepResult } from './environment.ts'

/** One step of an episode, with what led to it. */
export interface PlayedStep extends StepResult {
  readonly action: Action
  /** What a language model was asked for it; empty where none was. */
  readonly completions: readonly Completion[]
  /** From sending the action to having the answer. */
  readonly milliseconds: number
}

/** One play of a task. A failed one is our fault or the world's: counted apart, and never averaged in as a zero. */
export type Episode =
  | {
      readonly kind: 'finished'
      readonly start: ResetResult
      readonly steps: readonly PlayedStep[]
      readonly end: EpisodeEnd
      /** As the world defines it; left out where it defines none. */
      readonly success?: boolean | undefined
    }
  | {
      readonly kind: 'failed'
      readonly start: ResetResult | null
      readonly steps: readonly PlayedStep[]
      readonly cause: unknown
      /** What a language model was asked and no step came of. */
      readonly undecided: readonly Completion[]
    }

/** What the last step tells of an episode that it ended. */
export function successOf(steps: readonly PlayedStep[]): { readonly success?: boolean } {
  const success = steps.at(-1)?.info.success
  return success === undefined ? {} : { success }
}

export interface EpisodeOptions {
  readonly createEnvironment: () => Environment
  readonly policy: Policy
  readonly task?: Playable & Partial<Pick<PolicyContext['task'], 'prompt' | 'hints'>>
  /** Seed of the world instead of the task's own. */
  readonly seed?: string | undefined
  /** Seed of the policy's chance. Default: the policy's name. */
  readonly policySeed?: string | undefined
  readonly signal?: AbortSignal | undefined
  /** Monotonic milliseconds, for the times of the steps. Default: the machine's. */
  readonly now?: () => number
}
