import type { JsonObject, LimitsRequest, Rng } from '@episodic/protocol'
import { findUnknownKeys, formatUnknownKeys } from '@episodic/protocol/internal'
import type { z } from 'zod'
import { optionsInvalid } from './dataset-error.ts'
import type { AnyParams, TaskEnvironment } from './task-environment.ts'

/** What a generator receives for one row. It must return equal drafts for equal contexts. */
export interface TaskContext {
  /** Random numbers of this row, independent of other rows and of the count. */
  readonly rng: Rng
  /** The number of the row, from 0. */
  readonly index: number
  /** The wanted difficulty, from 0 (easiest) to 1, drawn uniformly from the requested range. */
  readonly difficulty: number
}

/** The author's part of a row; `generateTasks` adds the seed, the split, the tools and the id. */
export interface TaskDraft<Params = unknown> {
  /** What the player is asked to do. */
  readonly prompt: string
  /** Parameters of the world; the environment's schema fills in defaults. */
  readonly params: Params
  /** How hard the row is, from 0 (easiest) to 1: often the wanted difficulty itself. */
  readonly difficulty: number
  /** Default: none. */
  readonly hints?: readonly string[]
  /**
   * Instructions of seats that have their own, in an environment of several. Default: `prompt` and `hints` for each.
   */
  readonly seats?: { readonly [seat: string]: { readonly prompt: string; readonly hints?: readonly string[] } }
  /** Default: the environment's own limits. */
  readonly limits?: LimitsRequest
  /** Default: none. */
  readonly tags?: readonly string[]
  /** Default: `{}`. */
  readonly metadata?: JsonObject
  /** The entry of an `mcpServers` file that serves the world. Default: the run's own server. */
  readonly server?: string | undefined
  /**
   * The seed of the episode. Default: derived from the row. Return a constant for an environment that uses no
   * randomness: rows with equal parameters are then recognised as one task, which is kept once and in one split.
   */
  readonly seed?: string
}

/** A family of tasks: one environment, and a function that makes a row from its index. */
export interface TasksDefinition<Params extends z.ZodType = z.ZodType> {
  /** Part of every row's seed: two families of one environment have different rows. */
  readonly name: string
  readonly environment: TaskEnvironment<Params>
  /** How many rows there are, if they are a list: who asks for more gets these. Default: without end. */
  readonly count?: number
  readonly generate: (context: TaskContext) => TaskDraft<z.input<Params>>
}

/**
 * Describes a family of tasks. Pure: returns its argument, with `params` typed by the environment's schema. Throws
 * `options-invalid` for a key that there is not.
 */
export function defineTasks<
  Params extends z.ZodType = AnyParams,
  const Given extends z.input<Params> = z.input<Params>,
>(
  // Inferred of its own, the parameters of a draft keep their literals: `'4x4'` is not widened to `string`.
  definition: Omit<TasksDefinition<Params>, 'generate'> & {
    readonly generate: (context: TaskContext) => TaskDraft<Exact<Given, z.input<Params>>>
  },
): TasksDefinition<Params> {
  assertKnown(TASKS, definition, `The tasks "${definition.name}" have`)
  return definition as unknown as TasksDefinition<Params>
}

type Keys<Shape> = Readonly<Record<keyof Shape, true>>
const TASKS: Keys<TasksDefinition> = { name: true, environment: true, count: true, generate: true }
export const DRAFT: Keys<TaskDraft> = {
  prompt: true,
  params: true,
  difficulty: true,
  hints: true,
  seats: true,
  limits: true,
  tags: true,
  metadata: true,
  server: true,
  seed: true,
}

/** Throws `options-invalid` for a key that is not known: a misspelt one would have no effect. */
export function assertKnown(known: object, given: object, whose: string): void {
  const unknown = findUnknownKeys(Object.keys(known), given)
  if (unknown.length > 0) throw optionsInvalid(`${whose} an unknown key. ${formatUnknownKeys(unknown)}`)
}

/** Parameters of which every key is known: a misspelt optional one is an error, whatever other keys there are. */
type Exact<Given, Known> = unknown extends Known
  ? Given
  : { [Key in keyof Given]: Key extends EveryKey<Known> ? Given[Key] : never }

type EveryKey<T> = T extends unknown ? keyof T : never
