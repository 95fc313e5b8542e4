import { z } from 'zod'
import { type Completion, completionSchema } from './completion.ts'
import type { EpisodeEnd } from './end-reasons.ts'
import { episodeEndSchema, type PlayerStopped, playerStoppedSchema } from './episode-end.ts'
import { type Json, type JsonObject, jsonObjectSchema, jsonSchema } from './json.ts'
import { type Observation, observationSchema } from './observation.ts'
import { type RecordedEvent, recordedEventSchema } from './outside-event.ts'
import { type Action, actionSchema, type Refusal, type Reward, refusalSchema } from './step.ts'
import { type Split, splitSchema } from './task.ts'
import type { Transcript } from './transcript.ts'
import { transcriptSchema } from './transcript-schema.ts'

/** One step as it is kept. Times are milliseconds. */
export interface RecordedStep {
  readonly action: Action
  readonly observation: Observation
  readonly reward: Reward
  /** Φ after the step; `null` if the environment defines none. */
  readonly potential: number | null
  readonly refused: Refusal | null
  /** Hash of the state after the step; `null` if an external server kept the state. */
  readonly stateHash: string | null
  /**
   * From sending the action to receiving the answer; `null` if unknown, for example of an agent that plays by itself.
   */
  readonly milliseconds: number | null
  /** Outside events since the previous step, oldest first. Left out if there were none. */
  readonly events?: readonly RecordedEvent[] | undefined
  /**
   * What `prepare` returned for this step, so that a replay needs nothing from outside. Left out if nothing was
   * prepared.
   */
  readonly prepared?: Json | undefined
  /** Answers of a language model for this step; the last one decided it. Left out if there were none. */
  readonly completions?: readonly Completion[] | undefined
}

/**
 * Finished episodes have a return. A failed one is a fault of ours or of the environment: it has an error and never a
 * score. `success` is the result of the environment's `success`; left out if the environment defines none. `stopped` is
 * set if the player ended the episode: it is truncated for that reason, and `success` is `false`.
 */
export type Outcome =
  | {
      readonly kind: 'finished'
      readonly end: EpisodeEnd
      readonly success?: boolean | undefined
      readonly stopped?: PlayerStopped | undefined
    }
  | { readonly kind: 'failed'; readonly error: { readonly code: string; readonly message: string } }

/** What a finished episode earned. All are sums over its steps; `discounted` weighs step t (from 0) by γ^t. */
export interface Returns {
  /** Sum of `reward.total`: weighted and shaped, what a learner optimises. */
  readonly total: number
  /** Sum of the weighted terms alone: `total` without shaping. */
  readonly unshaped: number
  /** Σ γ^t · `reward.total` of step t. */
  readonly discounted: number
}

/**
 * The place of an episode in a tree of episodes that share their first steps: one leaf. Its steps include the shared
 * ones. `path`, `at` and `seeds` have one entry for each branch point on the way.
 */
export interface Branch {
  /** Numbers the trees of a task, from 0. */
  readonly rollout: number
  /** Leaves of a whole tree: those of this one are the attempts from `rollout * leaves` up. */
  readonly leaves: number
  /** How many leaves are this same episode: more than 1 if it ended before its next branch point. Each is sealed. */
  readonly copies: number
  /** Which continuation it is: 0 for the session that was forked, others for its forks. */
  readonly path: readonly number[]
  /** How many steps were answered there. */
  readonly at: readonly number[]
  /** Seed from there on; `null` if the random streams went on. */
  readonly seeds: readonly (string | null)[]
}

/** Who played. */
export interface RecordedPolicy {
  readonly name: string
  readonly seed: string
  /**
   * The version of its weights that the run was given, for example `12` or `step-12`. Left out if it was given none. An
   * answer that has a `policyVersion` of its own was written by that one.
   */
  readonly version?: string | undefined
}

/** The place of an episode in the curriculum of its run. */
export interface CurriculumPlace {
  /** Numbers the draws of the run, from 0. All rollouts of a drawn task have the same number. */
  readonly draw: number
  /** The name of the stage; `null` in a curriculum without stages. */
  readonly stage: string | null
}

/** What every line of a run says, whatever was played. */
export interface SealedLine {
  /** Version of this shape. */
  readonly format: 3
  readonly run: string
  readonly task: {
    readonly id: string
    readonly prompt: string
    readonly difficulty: number
    readonly split: Split
    readonly tags: readonly string[]
  }
  /** Numbers the episodes of one task, from 0. With `task.id` it names the episode. */
  readonly attempt: number
  /** Numbers the plays of one episode, from 0. It is more than 0 if earlier plays failed. */
  readonly try: number
  /** Where a curriculum drew the task. Left out in a run without a curriculum. */
  readonly curriculum?: CurriculumPlace | undefined
  readonly environment: { readonly name: string; readonly version: string }
  readonly params: JsonObject
  readonly seed: string
  /** The end of the hash chain over what a replay must reproduce, see {@link chainOf}. */
  readonly chain: string
  /** Milliseconds since the run began, on the machine that played it. */
  readonly time: { readonly started: number; readonly ended: number }
  /**
   * Hash of the chain and of the rest of the line, see {@link sealOf}; `null` for a line of format 2, which had none.
   */
  readonly seal: string | null
}

/**
 * One play of a task by one seat, sealed as one line of JSONL. A report is a fold over such lines and over nothing
 * else.
 */
export interface EpisodeRecord extends SealedLine {
  readonly policy: RecordedPolicy
  /** `null` for an episode that shares nothing with another. */
  readonly branch: Branch | null
  /** The first observation and its Φ; `null` if the session could not be opened. */
  readonly start: { readonly observation: Observation; readonly potential: number | null } | null
  readonly steps: readonly RecordedStep[]
  readonly outcome: Outcome
  /** Answers of a language model that led to no step. Left out if there were none. */
  readonly undecided?: readonly Completion[] | undefined
  /** What a language model was sent. Left out if none was asked, or it was not recorded. */
  readonly transcript?: Transcript | undefined
  /** `null` for a failed episode. */
  readonly returns: Returns | null
}

export const recordedPolicySchema: z.ZodType<RecordedPolicy> = z.object({
  name: z.string(),
  seed: z.string(),
  version: z.string().optional(),
})

export const rewardSchema = z.object({
  total: z.number(),
  terms: z.record(z.string(), z.number()),
  shaping: z.number(),
})

const branchSchema = z.object({
  rollout: z.int().min(0),
  leaves: z.int().min(2),
  copies: z.int().min(1),
  path: z.array(z.int().min(0)),
  at: z.array(z.int().min(0)),
  seeds: z.array(z.string().nullable()),
})

const curriculumPlaceSchema = z.object({ draw: z.int().min(0), stage: z.string().nullable() })

/** The fields of {@link SealedLine}. */
export const sealedLineShape = {
  format: z.literal(3),
  run: z.string(),
  task: z.object({
    id: z.string(),
    prompt: z.string(),
    difficulty: z.number(),
    split: splitSchema,
    tags: z.array(z.string()),
  }),
  attempt: z.int().min(0),
  try: z.int().min(0),
  curriculum: curriculumPlaceSchema.optional(),
  environment: z.object({ name: z.string(), version: z.string() }),
  params: jsonObjectSchema,
  seed: z.string(),
  chain: z.string(),
  time: z.object({ started: z.number(), ended: z.number() }),
  seal: z.string().nullable(),
} as const

/** The fields of a {@link RecordedStep} that steps of several seats have too. */
export const recordedStepShape = {
  action: actionSchema,
  observation: observationSchema,
  potential: z.number().nullable(),
  refused: refusalSchema.nullable(),
  stateHash: z.string().nullable(),
  milliseconds: z.number().nullable(),
  events: z.array(recordedEventSchema).optional(),
  prepared: jsonSchema.optional(),
  completions: z.array(completionSchema).optional(),
} as const

export const returnsSchema: z.ZodType<Returns> = z.object({
  total: z.number(),
  unshaped: z.number(),
  discounted: z.number(),
})
export const failureSchema = z.object({ code: z.string(), message: z.string() })

export const episodeRecordSchema: z.ZodType<EpisodeRecord> = z.object({
  ...sealedLineShape,
  policy: recordedPolicySchema,
  branch: branchSchema.nullable(),
  start: z.object({ observation: observationSchema, potential: z.number().nullable() }).nullable(),
  steps: z.array(z.object({ ...recordedStepShape, reward: rewardSchema })),
  undecided: z.array(completionSchema).optional(),
  transcript: transcriptSchema.optional(),
  outcome: z.discriminatedUnion('kind', [
    z.object({
      kind: z.literal('finished'),
      end: episodeEndSchema,
      success: z.boolean().optional(),
      stopped: playerStoppedSchema.optional(),
    }),
    z.object({ kind: z.literal('failed'), error: failureSchema }),
  ]),
  returns: returnsSchema.nullable(),
})
