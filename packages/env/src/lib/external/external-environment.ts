import type { Action, EpisodeEnd, LimitsRequest, Observation, Refusal } from '@episodic/protocol'
import type { z } from 'zod'
import { EnvError } from '../env-error.ts'
import type { CallOptions } from '../session/call-options.ts'
import type { Target } from '../transport/target.ts'
import type { ExternalServer } from './external-server.ts'

/** The episode that a part of an external environment is called for. */
export interface ExternalSetting<Params> {
  readonly params: Params
  readonly seed: string
}

/** One episode that is about to start. */
export interface ExternalOpening<Params> extends ExternalSetting<Params> {
  /** Registers a clean-up, for example of a folder. It runs when the episode is over and its server has stopped. */
  defer(undo: () => void | Promise<void>): void
}

/** One answered step of an external server. A server may change its state even if it refuses the action. */
export interface ExternalTransition<Params, State> {
  readonly before: State
  readonly action: Action
  readonly observation: Observation
  readonly refused: Refusal | null
  readonly after: State
  readonly params: Params
}

/** The input of `defineExternalEnvironment`. */
export interface ExternalDefinition<Params extends z.ZodType, State> {
  readonly name: string
  /** The version of this definition. Change it when set-up or scoring changes. */
  readonly version: string
  readonly description: string
  readonly params: Params
  /**
   * The server of an episode, or a function that returns one for the parameters and the seed. It decides how episodes
   * are separated: a command starts a process for each episode. A URL gets an MCP session for each, which separates
   * only the state that the server keeps by session.
   */
  readonly target: Target | ((opening: ExternalOpening<z.output<Params>>) => Target | Promise<Target>)
  /** The tools of the player. Default: all that the server lists. */
  readonly tools?: readonly string[]
  /** Limits for tasks that set none. */
  readonly limits?: LimitsRequest
  /** Sets the server up before the episode starts, with any of its tools. */
  readonly prepare?: (server: ExternalServer, setting: ExternalSetting<z.output<Params>>) => Promise<void>
  /** Reads the state for scoring, at the start and after every step, with any of the server's tools. */
  readonly read?: (server: ExternalServer, setting: ExternalSetting<z.output<Params>>) => Promise<State>
  /** Returns the text of the first observation. */
  readonly observe: (state: NoInfer<State>, params: z.output<Params>) => string
  /** Returns the reason for which the episode ends, or `null` if it goes on. */
  readonly end?: (transition: ExternalTransition<z.output<Params>, NoInfer<State>>) => string | null
  /** Named pure reward terms of one step. They run in this process: neither the server nor the player sees them. */
  readonly rewards: {
    readonly [term: string]: (
      transition: ExternalTransition<z.output<Params>, NoInfer<State>> & { readonly end: EpisodeEnd | null },
    ) => number
  }
}

/** An external environment without its types, as `connect` takes it. */
// biome-ignore lint/suspicious/noExplicitAny: the types of parameters and state are erased here
export type ExternalEnvironment = ExternalDefinition<z.ZodType, any>

/**
 * Defines an environment on any MCP server, without changes to that server. Pass the result to `connect`.
 *
 * Types are inferred from `params` and `read`. Pure: no server starts before `connect`.
 */
export function defineExternalEnvironment<Params extends z.ZodType, State = null>(
  definition: ExternalDefinition<Params, State>,
): ExternalEnvironment {
  return definition as unknown as ExternalEnvironment
}

/**
 * Runs a part of an external environment's definition. An error of its code becomes `rules-failed`, an `EnvError` of
 * its server is rethrown, and after an abort the signal's reason is thrown.
 */
export async function runRule<T>(part: string, { signal }: CallOptions, run: () => T | Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (cause) {
    signal?.throwIfAborted()
    if (EnvError.is(cause)) throw cause
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new EnvError('rules-failed', `The ${part} of the external environment failed: ${why}`, { cause })
  }
}
