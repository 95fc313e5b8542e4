import type { Action, EpisodeEnd, LimitsRequest, Observation, Refusal } from '@episodic/protocol'
import type { z } from 'zod'
import type { Target } from '../transport/target.ts'
import type { ExternalServer } from './external-server.ts'

/** One episode, as the parts of an external environment get to know it. */
export interface ExternalSetting<Params> {
  readonly params: Params
  readonly seed: string
}

/** One episode that is about to start. */
export interface ExternalOpening<Params> extends ExternalSetting<Params> {
  /** Has something undone when the episode is over and its server has stopped, such as a folder made for it. */
  defer(undo: () => void | Promise<void>): void
}

/** One answered step of an external server. A server that refuses may have changed something all the same. */
export interface ExternalTransition<Params, State> {
  readonly before: State
  readonly action: Action
  readonly observation: Observation
  readonly refused: Refusal | null
  readonly after: State
  readonly params: Params
}

/** What an author hands to `defineExternalEnvironment`. */
export interface ExternalDefinition<Params extends z.ZodType, State> {
  readonly name: string
  /** Of this definition. Another version may set up or score differently; the same one never does. */
  readonly version: string
  readonly description: string
  readonly params: Params
  /**
   * The server of an episode, or a template that gives one for its parameters and seed. It decides how episodes are
   * kept apart: a command is a process of its own for each, a URL is a fresh MCP session for each (which keeps apart
   * what the server keeps by session, and no more).
   */
  readonly target: Target | ((opening: ExternalOpening<z.output<Params>>) => Target | Promise<Target>)
  /** The tools that the player gets; left out, all that the server lists. */
  readonly tools?: readonly string[]
  /** Budgets where the task names none. */
  readonly limits?: LimitsRequest
  /** Sets the server up before the episode begins, with any of its tools. */
  readonly prepare?: (server: ExternalServer, setting: ExternalSetting<z.output<Params>>) => Promise<void>
  /** Reads the state to score by, at the start and after every step, with any of the server's tools. */
  readonly read?: (server: ExternalServer, setting: ExternalSetting<z.output<Params>>) => Promise<State>
  /** What the player is told at the start. */
  readonly observe: (state: NoInfer<State>, params: z.output<Params>) => string
  /** Ends the episode for a reason in the world's own words, or lets it go on with `null`. */
  readonly end?: (transition: ExternalTransition<z.output<Params>, NoInfer<State>>) => string | null
  /** Named pure terms over one step. Scoring happens here: the server and the player see nothing of it. */
  readonly rewards: {
    readonly [term: string]: (
      transition: ExternalTransition<z.output<Params>, NoInfer<State>> & { readonly end: EpisodeEnd | null },
    ) => number
  }
}

/** An external environment, its types erased: what `connect` and `connect` take. */
// biome-ignore lint/suspicious/noExplicitAny: parameters and state are the definition's own affair
export type ExternalEnvironment = ExternalDefinition<z.ZodType, any>

/**
 * Makes a world of an MCP server that knows nothing of environments, and is left as it is.
 *
 * Types flow from `params` and `read`, so an author annotates nothing. Pure: nothing starts until an episode does.
 */
export function defineExternalEnvironment<Params extends z.ZodType, State = null>(
  definition: ExternalDefinition<Params, State>,
): ExternalEnvironment {
  return definition as unknown as ExternalEnvironment
}
