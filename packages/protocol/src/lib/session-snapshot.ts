import { z } from 'zod'
import type { EpisodeEnd } from './end-reasons.ts'
import { episodeEndSchema } from './episode-end.ts'
import { type FullState, fullStateSchema } from './full-state.ts'
import { type JsonObject, jsonObjectSchema } from './json.ts'
import { type Limits, limitsSchema } from './limits.ts'
import { type OutsideHistory, outsideHistorySchema } from './outside-event.ts'
import type { RngState } from './rng.ts'
import { type Terms, termsSchema } from './seats-report.ts'

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
  readonly state: FullState
  readonly seats: { readonly [seat: string]: SeatSnapshot }
  /** The seats that may act. Left out if the environment has one seat. */
  readonly turn?: readonly string[] | undefined
  /** The history of its steps, oldest first; empty if the environment keeps none. */
  readonly history: readonly JsonObject[]
  /** Outside events; left out if there were none. */
  readonly outside?: OutsideHistory | undefined
  readonly end: EpisodeEnd | null
}

/** One seat of a session at one step. Everything but `seq` is left out where there is nothing to say. */
export interface SeatSnapshot {
  /** Answered steps: what its next step sends. They count against the limit of steps. */
  readonly seq: number
  /** See {@link SeatsReport}. */
  readonly due?: Terms | undefined
  readonly messages?: readonly string[] | undefined
  /** How the episode ended for this seat, if it goes on for others. */
  readonly end?: EpisodeEnd | undefined
  /** Whether it succeeded, if its episode is over and the environment defines success. */
  readonly success?: boolean | undefined
}
const seatSnapshotSchema: z.ZodType<SeatSnapshot> = z.strictObject({
  seq: z.int().min(0),
  due: termsSchema.optional(),
  messages: z.array(z.string()).optional(),
  end: episodeEndSchema.optional(),
  success: z.boolean().optional(),
})

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
  state: fullStateSchema,
  seats: z.record(z.string(), seatSnapshotSchema),
  turn: z.array(z.string()).optional(),
  history: z.array(jsonObjectSchema),
  outside: outsideHistorySchema.optional(),
  end: episodeEndSchema.nullable(),
})
