import type { Action, EpisodeEnd, LimitsRequest, Observation, Refusal } from '@episodic/protocol'
import type { z } from 'zod'
import type { Target } from '../transport/target.ts'
import type { ForeignServer } from './external-server.ts'

/** One episode, as the parts of a foreign environment get to know it. */
export interface ForeignSetting<Params> {
  readonly params: Params
  readonly seed: string
}

/** One episode that is about to start. */
export interface ForeignOpening<Params> extends ForeignSetting<Params> {
  /** Has something undone when the episode is over and its server has stopped, such as a folder made for it. */
  defer(undo: () => void | Promise<void>): void
}

/** One answered step of a foreign server. A server that refuses may have changed something all the same. */
export interface ForeignTransition<Params, State> {
  readonly before: State
  readonly action: Action
  readonly observation: Observation
  readonly refused: Refusal | null
  readonly after: State
  readonly params: Params
}

/** What an author hands to `defineForeignEnvironment`. */
export interface ForeignDefinition<Params extends z.ZodType, State> {
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
  readonly target: Target | ((opening: ForeignOpening<z.output<Params>>) => Target | Promise<Target>)
  /** The tools that the player gets; left out, all that the server lists. */
  readonly tools?: readonly string[]
  /** Budgets where the task names none. */
  readonly limits?: LimitsRequest
  /** Sets the server up before the episode begins, with any of its tools. */
  readonly prepare?: (server: ForeignServer, setting: ForeignSetting<z.output<Params>>) => Promise<void>
  /** Reads the state to score by, at the start and after every step, with any of the server's tools. */
  readonly read?: (server: ForeignServer, setting: ForeignSetting<z.output<Params>>) => Promise<State>
  /** What the player is told at the start. */
  readonly observe: (state: NoInfer<State>, params: z.output<Params>) => string
  /** Ends the episode for a reason in the world's own words, or lets it go on with `null`. */
  readonly end?: (transition: ForeignTransition<z.output<Params>, NoInfer<State>>) => string | null
  /** Named pure terms over one step. Scoring happens here: the server and the player see nothing of it. */
  readonly rewards: {
    readonly [term: string]: (
      transition: ForeignTransition<z.output<Params>, NoInfer<State>> & { readonly end: EpisodeEnd | null },
    ) => number
  }
}

/** A foreign environment, its types erased: what `connect` and `connect` take. */
// biome-ignore lint/suspicious/noExplicitAny: parameters and state are the definition's own affair
export type ForeignEnvironment = ForeignDefinition<z.ZodType, any>

/**
 * Makes a world of an MCP server that knows nothing of environments, and is left as it is.
 *
 * Types flow from `params` and `read`, so an author annotates nothing. Pure: nothing starts until an episode does.
 */
export function defineForeignEnvironment<Params extends z.ZodType, State = null>(
  definition: ForeignDefinition<Params, State>,
): ForeignEnvironment {
  return definition as unknown as ForeignEnvironment
}
