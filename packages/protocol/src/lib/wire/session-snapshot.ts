import { z } from 'zod'
import { jsonObjectSchema } from '../base/json.ts'
import type { Wire } from '../base/wire.ts'
import { episodeEndSchema, judgementShape } from './episode-end.ts'
import { limitsSchema } from './limits.ts'
import { outsideHistorySchema } from './outside-event.ts'
import { termsSchema } from './seats-report.ts'

/**
 * The whole state of an environment, with the parts that players may not see. Strict: an unknown part is reported, not
 * dropped.
 */
export const fullStateSchema = z.strictObject({
  public: jsonObjectSchema,
  /** What each seat alone may see. Left out if the environment has one seat. */
  own: z.record(z.string(), jsonObjectSchema).optional(),
  private: jsonObjectSchema,
})

/** One seat of a session at one step. Everything but `seq` is left out where there is nothing to say. */
const seatSnapshotSchema = z.strictObject({
  /** Answered steps: what its next step sends. They count against the limit of steps. */
  seq: z.int().min(0),
  /** See {@link SeatsReport}. */
  due: termsSchema.optional(),
  messages: z.array(z.string()).optional(),
  /** How the episode ended for this seat, if it goes on for others. */
  end: episodeEndSchema.optional(),
  ...judgementShape,
})

/** The state of a generator: four words of 32 bits, not all 0, since the generator never leaves that state. */
const streamSchema = z
  .array(z.int32())
  .length(4)
  .refine((words) => words.some((word) => word !== 0), 'Expected a word other than 0')

/** Strict: an unknown key is reported, not dropped. */
export const sessionSnapshotSchema = z.strictObject({
  format: z.literal(1),
  environment: z.strictObject({ name: z.string().min(1), version: z.string().min(1) }),
  /** The parameters with defaults filled in. */
  params: jsonObjectSchema,
  seed: z.string().min(1).max(256),
  limits: limitsSchema,
  /** Position of every random stream that was drawn from. */
  rng: z.record(z.string(), streamSchema),
  /** Virtual time, in milliseconds: 0 at the start, moved by the rules alone; at most the largest safe integer. */
  now: z.number().min(0).max(Number.MAX_SAFE_INTEGER),
  state: fullStateSchema,
  seats: z.record(z.string(), seatSnapshotSchema),
  /** The seats that may act. Left out if the environment has one seat. */
  turn: z.array(z.string()).optional(),
  /** The history of its steps, oldest first; empty if the environment keeps none. */
  history: z.array(jsonObjectSchema),
  /** Outside events; left out if there were none. */
  outside: outsideHistorySchema.optional(),
  end: episodeEndSchema.nullable(),
})
/**
 * A session at one step, as plain JSON: everything that decides how it continues. Sessions can be opened from it on any
 * server with the same version of the environment. It contains private state, so it is for the trainer endpoint only.
 */
export type SessionSnapshot = Wire<typeof sessionSnapshotSchema>
