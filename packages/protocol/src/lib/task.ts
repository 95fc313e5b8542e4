import { z } from 'zod'
import { type JsonObject, jsonObjectSchema } from './json.ts'
import { type LimitsRequest, limitsRequestSchema } from './limits.ts'

export const splitSchema = z.enum(['train', 'validation', 'test'])
/** Which part of a dataset a task belongs to. */
export type Split = z.infer<typeof splitSchema>

/** What the player of one seat is asked to do. */
export interface SeatInstructions {
  readonly prompt: string
  readonly hints: readonly string[]
}

/** One row of a dataset: the environment, its parameters and seed, and the player's prompt. One line of JSONL. */
export interface Task {
  /** A content hash of everything that decides what is played; the same task has the same id wherever it is made. */
  readonly id: string
  readonly environment: { readonly name: string; readonly version: string }
  /** The entry of an `mcpServers` file that serves it, if it is not the run's own server. */
  readonly server?: string | undefined
  /** The names of the player's tools. */
  readonly tools: readonly string[]
  /** The instruction for the player. */
  readonly prompt: string
  readonly hints: readonly string[]
  /**
   * The instructions for seats that have their own, in an environment of several: of a simulated user, for example.
   * Others get `prompt` and `hints`.
   */
  readonly seats?: { readonly [seat: string]: SeatInstructions } | undefined
  /** Parameters of the environment. */
  readonly params: JsonObject
  /** Seed of the environment. */
  readonly seed: string
  /** From 0 (easiest) to 1. */
  readonly difficulty: number
  readonly limits: LimitsRequest
  readonly split: Split
  readonly tags: readonly string[]
  readonly metadata: JsonObject
}

/** Strict: an unknown key is reported as a typing error, not dropped. */
export const taskSchema: z.ZodType<Task> = z.strictObject({
  id: z.string().min(1),
  environment: z.strictObject({ name: z.string().min(1), version: z.string().min(1) }),
  server: z.string().min(1).optional(),
  tools: z.array(z.string().min(1)),
  prompt: z.string(),
  hints: z.array(z.string()),
  seats: z.record(z.string(), z.strictObject({ prompt: z.string(), hints: z.array(z.string()) })).optional(),
  params: jsonObjectSchema,
  seed: z.string().min(1),
  difficulty: z.number().min(0).max(1),
  limits: limitsRequestSchema,
  split: splitSchema,
  tags: z.array(z.string()),
  metadata: jsonObjectSchema,
})
