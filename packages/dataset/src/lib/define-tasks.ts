import type { JsonObject, LimitsRequest, Rng } from '@episodic/protocol'
import type { z } from 'zod'
import type { AnyParams, TaskEnvironment } from './task-environment.ts'

/** What a generator is given for one row. Equal contexts must give equal drafts: there is no other source of chance. */
export interface TaskContext {
  /** This row's own chance; no other row and no other count moves it. */
  readonly rng: Rng
  /** Numbers the rows of the generator, from 0. */
  readonly index: number
  /** The difficulty that is wanted, from 0 (easiest) to 1, drawn evenly from the range that was asked for. */
  readonly difficulty: number
}

/** What an author says about one row; the generator adds the seed, the split, the tools and the id. */
export interface TaskDraft<Params = unknown> {
  /** What to ask the player for. */
  readonly prompt: string
  /** Parameters of the world; the environment's schema fills in defaults. */
  readonly params: Params
  /** How hard the row really is, from 0 (easiest) to 1. Often the wanted difficulty, returned as it came. */
  readonly difficulty: number
  /** Default: none. */
  readonly hints?: readonly string[]
  /** Default: the environment's own limits. */
  readonly limits?: LimitsRequest
  /** Default: none. */
  readonly tags?: readonly string[]
  /** Default: `{}`. */
  readonly metadata?: JsonObject
  /** The entry of an `mcpServers` file that serves the world. Default: the run's own server. */
  readonly server?: string | undefined
  /**
   * The world's seed. Default: one of the row's own. Name a constant for a world that never draws, so that rows of
   * equal parameters are known to be the same task: one of them is kept, and no other split can hold it.
   */
  readonly seed?: string
}

/** A family of tasks: one environment, and how to make the row of an index. */
export interface TasksDefinition<Params extends z.ZodType = z.ZodType> {
  /** Part of every row's seed: two families of one environment give different rows. */
  readonly name: string
  readonly environment: TaskEnvironment<Params>
  readonly generate: (context: TaskContext) => TaskDraft<z.input<Params>>
}

/** Describes a family of tasks. Pure: returns what it was given, with `params` typed by the environment's schema. */
export function defineTasks<Params extends z.ZodType = AnyParams>(
  definition: TasksDefinition<Params>,
): TasksDefinition<Params> {
  return definition
}
