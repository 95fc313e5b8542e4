import { z } from 'zod'
import { jsonObjectSchema, jsonSchema } from '../base/json.ts'
import type { Wire } from '../base/wire.ts'
import type { EpisodeEnd } from './end-reasons.ts'
import { episodeEndSchema, judgementShape } from './episode-end.ts'
import type { Observation } from './observation.ts'
import { appliedEventSchema } from './outside-event.ts'
import { seatsReportSchema } from './seats-report.ts'

export const actionSchema = z.object({ tool: z.string(), arguments: jsonObjectSchema })
/** What a policy does in one step: call a tool of the world. */
export type Action = Wire<typeof actionSchema>

/**
 * Why a step changed nothing: the `rules` refused it, its `arguments` failed the schema, the `tool` does not exist, the
 * session's `time` had run out before it arrived, or an outside event had `ended` the episode by then. A refused step
 * is an answered step all the same.
 */
export const refusalSchema = z.enum(['rules', 'arguments', 'tool', 'time', 'ended'])
export type Refusal = z.infer<typeof refusalSchema>

export const stepReportSchema = z.object({
  /** How many steps of this seat are answered, this one included: what the next step must send. */
  seq: z.int().min(0),
  /** Commits of any kind to the session, this step's included. By a seat handle, the same as `seq`. */
  revision: z.int().min(0),
  /** Raw reward of each named term, for this step alone. */
  terms: z.record(z.string(), z.number()),
  /** Φ of the state after the step, in the unit of reward; `null` if the environment defines no potential. */
  potential: z.number().nullable(),
  end: episodeEndSchema.nullable(),
  /** In the report with its `end`. */
  ...judgementShape,
  refused: refusalSchema.nullable(),
  /**
   * {@link contentId} of the state, the random streams and the virtual time after the step. Empty for a seat handle,
   * since hidden state could be found by trying.
   */
  stateHash: z.string(),
  /** Outside events since the previous step, oldest first: this step was played after them. Left out if none. */
  events: z.array(appliedEventSchema).optional(),
  /** What the tool's `prepare` returned: an input of the step. Left out if nothing was prepared. */
  prepared: jsonSchema.optional(),
  /** What the step meant to the other seats. Left out if the environment has one seat. */
  seats: seatsReportSchema.optional(),
})
/**
 * What the trainer endpoint adds to an answer, in its `_meta`: raw reward terms and the potential Φ after the step.
 * The server never weighs or shapes; the player does, so that a report can show the return with and without.
 */
export type StepReport = Wire<typeof stepReportSchema>

export const rewardSchema = z.object({
  /** The reward for the learner: the weighted terms plus shaping. */
  total: z.number(),
  /** Each named term before weights. */
  terms: z.record(z.string(), z.number()),
  /** The potential-based part of `total`, γΦ(s′) − Φ(s); 0 unless shaping is on. */
  shaping: z.number(),
})
export type Reward = Wire<typeof rewardSchema>

/** Additional information about a step, for debugging, recording and reports. Policies do not need it. */
export interface StepInfo
  extends Pick<StepReport, 'seq' | 'potential' | 'refused' | 'success' | 'verdicts' | 'events' | 'prepared'> {
  /** See {@link StepReport}; `null` if an external server keeps the state. */
  readonly stateHash: string | null
  /** Whether the answer is a stored one: the step had been applied before and its first answer was lost. */
  readonly replayed: boolean
}

/** What `environment.step(action)` returns. `end` is `null` while the episode goes on. */
export interface Step {
  readonly observation: Observation
  readonly reward: Reward
  readonly end: EpisodeEnd | null
  readonly info: StepInfo
}
