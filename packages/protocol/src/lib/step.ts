import { z } from 'zod'
import { type EpisodeEnd, episodeEndSchema } from './episode-end.ts'
import { type Json, type JsonObject, jsonObjectSchema, jsonSchema } from './json.ts'
import { type AppliedEvent, appliedEventSchema } from './outside-event.ts'

/** What a policy does in one step: call a tool of the world. */
export interface Action {
  readonly tool: string
  readonly arguments: JsonObject
}
export const actionSchema: z.ZodType<Action> = z.object({ tool: z.string(), arguments: jsonObjectSchema })

/** What the agent is told: text for a reader, and the same as data where the world gives it. */
export interface Observation {
  readonly text: string
  readonly structured: JsonObject | null
}
export const observationSchema: z.ZodType<Observation> = z.object({
  text: z.string(),
  structured: jsonObjectSchema.nullable(),
})

/**
 * Why a step changed nothing: the `rules` refused it, its `arguments` failed the schema, the `tool` does not
 * exist, the session's `time` had run out before it arrived, or an outside event had `ended` the episode by then. A refused
 * step is an answered step all the same.
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
  /** Commits of any kind to the session, this step's included. */
  readonly revision: number
  /** Raw reward of each named term, for this step alone. */
  readonly terms: { readonly [name: string]: number }
  /** Φ of the state after the step; `null` where the world defines no potential. Dimension: reward. */
  readonly potential: number | null
  readonly end: EpisodeEnd | null
  /** Whether the episode succeeded, by the world's own `success`: in the report that has its `end`. Left out where the world defines none. */
  readonly success?: boolean | undefined
  readonly refused: Refusal | null
  /** {@link contentId} of what the world goes on from: equal where state, chance and virtual time are. */
  readonly stateHash: string
  /** Outside events since the step before, oldest first: this step was played after them. Left out where there were none. */
  readonly events?: readonly AppliedEvent[] | undefined
  /** What the tool's `prepare` gave before the rules played: an input of the step. Left out where nothing was prepared. */
  readonly prepared?: Json | undefined
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
})

/** The reward of one step. */
export interface Reward {
  /** What a learner gets: the weighted terms plus shaping. */
  readonly total: number
  /** Each named term, raw: as the world gave it, before weights. */
  readonly terms: { readonly [name: string]: number }
  /** The potential-based part of `total`, γΦ(s′) − Φ(s); 0 unless shaping is on. */
  readonly shaping: number
}

/** What a step tells besides: never needed to act on, useful to debug, record and report. */
export interface StepInfo {
  readonly seq: number
  /** Φ after the step, see {@link StepReport}. */
  readonly potential: number | null
  readonly refused: Refusal | null
  /** See {@link StepReport}; `null` where a foreign server keeps the state. */
  readonly stateHash: string | null
  /** See {@link StepReport}. */
  readonly success?: boolean | undefined
  /** The answer is a stored one: the step had been applied before and its first answer was lost. */
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
