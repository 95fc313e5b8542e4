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

/** An episode whose server has started. */
interface ExternalPlay<Params, Context> extends ExternalSetting<Params> {
  /** What `target` handed on; `undefined` where it returned the server alone. */
  readonly context: Context
}

/** The server of an episode, and what `target` hands on to the other functions, such as the path of a folder. */
interface TargetWithContext<Context> {
  readonly server: Target
  readonly context: Context
}

/** One episode that is about to start. */
export interface ExternalOpening<Params> extends ExternalSetting<Params> {
  /** Registers a clean-up, for example of a folder. It runs when the episode is over and its server has stopped. */
  defer(undo: () => void | Promise<void>): void
}

/** One answered step of an external server. A server may change its state even if it refuses the action. */
export interface ExternalTransition<Params, State, Context = undefined> {
  readonly before: State
  readonly action: Action
  readonly observation: Observation
  readonly refused: Refusal | null
  readonly after: State
  readonly params: Params
  /** What `target` handed on. */
  readonly context: Context
}

type MaybePromise<T> = T | Promise<T>

/** The input of `defineExternalEnvironment`. */
export interface ExternalDefinition<Params extends z.ZodType, State, Context = undefined> {
  readonly name: string
  /** The version of this definition. Change it when set-up or scoring changes. */
  readonly version: string
  readonly description: string
  readonly params: Params
  /**
   * The server of an episode, or a function that returns one for the parameters and the seed. It decides how episodes
   * are separated: a command starts a process for each episode. A URL gets an MCP session for each, which separates
   * only the state that the server keeps by session.
   *
   * The function may return `{ server, context }`: all other functions get the context of their own episode. Episodes
   * of one seed may be played at once, so that nothing else sets them apart.
   */
  readonly target:
    | Target
    | ((opening: ExternalOpening<z.output<Params>>) => MaybePromise<Target | TargetWithContext<Context>>)
  /** The tools of the player. Default: all that the server lists. */
  readonly tools?: readonly string[]
  /** Limits for tasks that set none. */
  readonly limits?: LimitsRequest
  /** `false`: a language model plays one call of each answer. Default: all, in their order. */
  readonly parallelToolCalls?: false
  /** Sets the server up before the episode starts, with any of its tools. */
  readonly prepare?: (server: ExternalServer, play: ExternalPlay<z.output<Params>, NoInfer<Context>>) => Promise<void>
  /** Reads the state for scoring, at the start and after every step, with any of the server's tools. */
  readonly read?: (server: ExternalServer, play: ExternalPlay<z.output<Params>, NoInfer<Context>>) => Promise<State>
  /** Returns the text of the first observation. */
  readonly observe: (state: NoInfer<State>, params: z.output<Params>, context: NoInfer<Context>) => string
  /** Returns the reason for which the episode ends, or `null` if it goes on. */
  readonly end?: (transition: ExternalTransition<z.output<Params>, NoInfer<State>, NoInfer<Context>>) => string | null
  /** Named pure reward terms of one step. They run in this process: neither the server nor the player sees them. */
  readonly rewards: {
    readonly [term: string]: (
      transition: ExternalTransition<z.output<Params>, NoInfer<State>, NoInfer<Context>> & {
        readonly end: EpisodeEnd | null
      },
    ) => number
  }
}

/** An external environment without its types, as `connect` takes it. */
// biome-ignore lint/suspicious/noExplicitAny: the types of parameters, state and context are erased here
export type ExternalEnvironment = ExternalDefinition<z.ZodType, any, any>

/**
 * Defines an environment on any MCP server, without changes to that server. Pass the result to `connect`.
 *
 * Types are inferred from `params`, `target` and `read`. Pure: no server starts before `connect`.
 */
export function defineExternalEnvironment<Params extends z.ZodType, State = null, Context = undefined>(
  definition: ExternalDefinition<Params, State, Context>,
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
