import { z } from 'zod'
import { type EpisodeEnd, episodeEndSchema } from './episode-end.ts'
import { type JsonObject, jsonObjectSchema } from './json.ts'
import { type Limits, limitsSchema } from './limits.ts'
import { type OutsideHistory, outsideHistorySchema } from './outside-event.ts'
import type { RngState } from './rng.ts'

/**
 * A session at one step, as plain JSON: everything that decides how it continues. Sessions can be opened from it on any
 * server with the same version of the environment. It contains private state, so it is for the trainer endpoint only.
 */
export interface SessionSnapshot {
  /** Version of this shape. */
  readonly format: 1
  readonly environment: { readonly name: string; readonly version: string }
  /** The parameters with defaults filled in. */
  readonly params: JsonObject
  readonly seed: string
  readonly limits: Limits
  /** Position of every random stream that was drawn from. */
  readonly rng: RngState
  /** Virtual time, in milliseconds: at most the largest safe integer. */
  readonly now: number
  readonly state: { readonly public: JsonObject; readonly private: JsonObject }
  /** Answered steps of each seat: what its next step sends. They count against the limit of steps. */
  readonly seats: { readonly [seat: string]: { readonly seq: number } }
  /** The history of its steps, oldest first; empty if the environment keeps none. */
  readonly history: readonly JsonObject[]
  /** Outside events; left out if there were none. */
  readonly outside?: OutsideHistory | undefined
  readonly end: EpisodeEnd | null
}

/** The state of a generator: four words of 32 bits, not all 0, since the generator never leaves that state. */
const streamSchema = z
  .array(z.int32())
  .length(4)
  .refine((words) => words.some((word) => word !== 0), 'Expected a word other than 0')

/** Strict: an unknown key is reported, not dropped. */
export const sessionSnapshotSchema: z.ZodType<SessionSnapshot> = z.strictObject({
  format: z.literal(1),
  environment: z.strictObject({ name: z.string().min(1), version: z.string().min(1) }),
  params: jsonObjectSchema,
  seed: z.string().min(1).max(256),
  limits: limitsSchema,
  rng: z.record(z.string(), streamSchema),
  now: z.number().min(0).max(Number.MAX_SAFE_INTEGER),
  state: z.strictObject({ public: jsonObjectSchema, private: jsonObjectSchema }),
  seats: z.record(z.string(), z.strictObject({ seq: z.int().min(0) })),
  history: z.array(jsonObjectSchema),
  outside: outsideHistorySchema.optional(),
  end: episodeEndSchema.nullable(),
})
