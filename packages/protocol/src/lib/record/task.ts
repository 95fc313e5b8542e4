import { z } from 'zod'
import { jsonObjectSchema } from '../base/json.ts'
import type { Wire } from '../base/wire.ts'
import { limitsRequestSchema } from '../wire/limits.ts'

export const splitSchema = z.enum(['train', 'validation', 'test'])
/** Which part of a dataset a task belongs to. */
export type Split = z.infer<typeof splitSchema>

const seatInstructionsSchema = z.strictObject({ prompt: z.string(), hints: z.array(z.string()) })

/** Strict: an unknown key is reported as a typing error, not dropped. */
export const taskSchema = z.strictObject({
  /** A content hash of everything that decides what is played; the same task has the same id wherever it is made. */
  id: z.string().min(1),
  environment: z.strictObject({ name: z.string().min(1), version: z.string().min(1) }),
  /** The entry of an `mcpServers` file that serves it, if it is not the run's own server. */
  server: z.string().min(1).optional(),
  tools: z.array(z.string().min(1)),
  prompt: z.string(),
  hints: z.array(z.string()),
  /**
   * The instructions for seats that have their own, in an environment of several: of a simulated user, for example.
   * Others get `prompt` and `hints`.
   */
  seats: z.record(z.string(), seatInstructionsSchema).optional(),
  params: jsonObjectSchema,
  seed: z.string().min(1),
  /** From 0 (easiest) to 1. */
  difficulty: z.number().min(0).max(1),
  limits: limitsRequestSchema,
  split: splitSchema,
  tags: z.array(z.string()),
  metadata: jsonObjectSchema,
})
/** One row of a dataset: the environment, its parameters and seed, and the player's prompt. One line of JSONL. */
export type Task = Wire<typeof taskSchema>
