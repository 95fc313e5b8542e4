import { z } from 'zod'
import type { EpisodeEnd } from './end-reasons.ts'
import { episodeEndSchema } from './episode-end.ts'
import { type Json, type JsonObject, jsonObjectSchema, jsonSchema } from './json.ts'
import type { Observation } from './observation.ts'
import { type AppliedEvent, appliedEventSchema } from './outside-event.ts'
import { type SeatsReport, seatsReportSchema } from './seats-report.ts'

/** What a policy does in one step: call a tool of the world. */
export interface Action {
  readonly tool: string
  readonly arguments: JsonObject
}
export const actionSchema: z.ZodType<Action> = z.object({ tool: z.string(), arguments: jsonObjectSchema })

/**
 * Why a step changed nothing: the `rules` refused it, its `arguments` failed the schema, the `tool` does not exist, the
 * session's `time` had run out before it arrived, or an outside event had `ended` the episode by then. A refused step
 * is an answered step all the same.
 */
export const refusalSchema = z.enum(['rules', 'arguments', 'tool', 'time', 'ended'])
export type Refusal = z.infer<typeof refusalSchema>

/**
 * What the trainer endpoint adds to an answer, in its `_meta`: raw reward terms and the potential Φ after the step.
 * The server never weighs or shapes; the player does, so that a report can show the return with and without.
 */
export interface StepReport {
  /** How many steps of this seat are answered, this one included: what the next step must send. */
  readonly seq: number
  /** Commits of any kind to the session, this step's included. By a seat handle, the same as `seq`. */
  readonly revision: number
  /** Raw reward of each named term, for this step alone. */
  readonly terms: { readonly [name: string]: number }
  /** Φ of the state after the step, in the unit of reward; `null` if the environment defines no potential. */
  readonly potential: number | null
  readonly end: EpisodeEnd | null
  /**
   * Whether the episode succeeded, in the report that has its `end`. Left out if the environment defines no success.
   */
  readonly success?: boolean | undefined
  readonly refused: Refusal | null
  /**
   * {@link contentId} of the state, the random streams and the virtual time after the step. Empty for a seat handle,
   * since hidden state could be found by trying.
   */
  readonly stateHash: string
  /**
   * Outside events since the previous step, oldest first: this step was played after them. Left out if there were none.
   */
  readonly events?: readonly AppliedEvent[] | undefined
  /** What the tool's `prepare` returned: an input of the step. Left out if nothing was prepared. */
  readonly prepared?: Json | undefined
  /** What the step meant to the other seats. Left out if the environment has one seat. */
  readonly seats?: SeatsReport | undefined
}
export const stepReportSchema: z.ZodType<StepReport> = z.object({
  seq: z.int().min(0),
  revision: z.int().min(0),
  terms: z.record(z.string(), z.number()),
  potential: z.number().nullable(),
  end: episodeEndSchema.nullable(),
  success: z.boolean().optional(),
  refused: refusalSchema.nullable(),
  stateHash: z.string(),
  events: z.array(appliedEventSchema).optional(),
  prepared: jsonSchema.optional(),
  seats: seatsReportSchema.optional(),
})

/** The reward of one step. */
export interface Reward {
  /** The reward for the learner: the weighted terms plus shaping. */
  readonly total: number
  /** Each named term before weights. */
  readonly terms: { readonly [name: string]: number }
  /** The potential-based part of `total`, γΦ(s′) − Φ(s); 0 unless shaping is on. */
  readonly shaping: number
}

/** Additional information about a step, for debugging, recording and reports. Policies do not need it. */
export interface StepInfo {
  readonly seq: number
  /** Φ after the step, see {@link StepReport}. */
  readonly potential: number | null
  readonly refused: Refusal | null
  /** See {@link StepReport}; `null` if an external server keeps the state. */
  readonly stateHash: string | null
  /** See {@link StepReport}. */
  readonly success?: boolean | undefined
  /** Whether the answer is a stored one: the step had been applied before and its first answer was lost. */
  readonly replayed: boolean
  /** See {@link StepReport}. */
  readonly events?: readonly AppliedEvent[] | undefined
  /** See {@link StepReport}. */
  readonly prepared?: Json | undefined
}

/** What `environment.step(action)` returns. `end` is `null` while the episode goes on. */
export interface Step {
  readonly observation: Observation
  readonly reward: Reward
  readonly end: EpisodeEnd | null
  readonly info: StepInfo
}
