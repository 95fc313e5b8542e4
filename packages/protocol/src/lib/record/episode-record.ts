import { z } from 'zod'
import { jsonObjectSchema, jsonSchema } from '../base/json.ts'
import type { Wire } from '../base/wire.ts'
import { episodeEndSchema, playerStoppedSchema } from '../wire/episode-end.ts'
import { observationSchema } from '../wire/observation.ts'
import { recordedEventSchema } from '../wire/outside-event.ts'
import { actionSchema, refusalSchema, rewardSchema } from '../wire/step.ts'
import { completionSchema } from './completion.ts'
import { splitSchema } from './task.ts'
import { transcriptSchema } from './transcript-schema.ts'

/** The fields of a {@link RecordedStep} that steps of several seats have too. Times are milliseconds. */
export const recordedStepShape = {
  action: actionSchema,
  observation: observationSchema,
  /** Φ after the step; `null` if the environment defines none. */
  potential: z.number().nullable(),
  refused: refusalSchema.nullable(),
  /** Hash of the state after the step; `null` if an external server kept the state. */
  stateHash: z.string().nullable(),
  /**
   * From sending the action to receiving the answer; `null` if unknown, for example of an agent that plays by itself.
   */
  milliseconds: z.number().nullable(),
  /** Outside events since the previous step, oldest first. Left out if there were none. */
  events: z.array(recordedEventSchema).optional(),
  /**
   * What `prepare` returned for this step, so that a replay needs nothing from outside. Left out if nothing was
   * prepared.
   */
  prepared: jsonSchema.optional(),
  /** Answers of a language model for this step; the last one decided it. Left out if there were none. */
  completions: z.array(completionSchema).optional(),
} as const
const recordedStepSchema = z.object({ ...recordedStepShape, reward: rewardSchema })
/** One step as it is kept. */
export type RecordedStep = Wire<typeof recordedStepSchema>

export const failureSchema = z.object({ code: z.string(), message: z.string() })

/**
 * Finished episodes have a return. A failed one is a fault of ours or of the environment: it has an error and never a
 * score. `success` is the result of the environment's `success`; left out if the environment defines none. `stopped` is
 * set if the player ended the episode: it is truncated for that reason, and `success` is `false`.
 */
const outcomeSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('finished'),
    end: episodeEndSchema,
    success: z.boolean().optional(),
    stopped: playerStoppedSchema.optional(),
  }),
  z.object({ kind: z.literal('failed'), error: failureSchema }),
])

/** What a finished episode earned. All are sums over its steps; `discounted` weighs step t (from 0) by γ^t. */
export const returnsSchema = z.object({
  /** Sum of `reward.total`: weighted and shaped, what a learner optimises. */
  total: z.number(),
  /** Sum of the weighted terms alone: `total` without shaping. */
  unshaped: z.number(),
  /** Σ γ^t · `reward.total` of step t. */
  discounted: z.number(),
})

/**
 * The place of an episode in a tree of episodes that share their first steps: one leaf. Its steps include the shared
 * ones. `path`, `at` and `seeds` have one entry for each branch point on the way.
 */
const branchSchema = z.object({
  /** Numbers the trees of a task, from 0. */
  rollout: z.int().min(0),
  /** Leaves of a whole tree: those of this one are the attempts from `rollout * leaves` up. */
  leaves: z.int().min(2),
  /** How many leaves are this same episode: more than 1 if it ended before its next branch point. Each is sealed. */
  copies: z.int().min(1),
  /** Which continuation it is: 0 for the session that was forked, others for its forks. */
  path: z.array(z.int().min(0)),
  /** How many steps were answered there. */
  at: z.array(z.int().min(0)),
  /** Seed from there on; `null` if the random streams went on. */
  seeds: z.array(z.string().nullable()),
})

/** Who played. */
export const recordedPolicySchema = z.object({
  name: z.string(),
  seed: z.string(),
  /**
   * The version of its weights that the run was given, for example `12` or `step-12`. Left out if it was given none. An
   * answer that has a `policyVersion` of its own was written by that one.
   */
  version: z.string().optional(),
})

/** The place of an episode in the curriculum of its run. */
const curriculumPlaceSchema = z.object({
  /** Numbers the draws of the run, from 0. All rollouts of a drawn task have the same number. */
  draw: z.int().min(0),
  /** The name of the stage; `null` in a curriculum without stages. */
  stage: z.string().nullable(),
})

/** What every line of a run says, whatever was played. */
export const sealedLineSchema = z.object({
  /** Version of this shape. */
  format: z.literal(3),
  run: z.string(),
  task: z.object({
    id: z.string(),
    prompt: z.string(),
    difficulty: z.number(),
    split: splitSchema,
    tags: z.array(z.string()),
  }),
  /** Numbers the episodes of one task, from 0. With `task.id` it names the episode. */
  attempt: z.int().min(0),
  /** Numbers the plays of one episode, from 0. It is more than 0 if earlier plays failed. */
  try: z.int().min(0),
  /** Where a curriculum drew the task. Left out in a run without a curriculum. */
  curriculum: curriculumPlaceSchema.optional(),
  environment: z.object({ name: z.string(), version: z.string() }),
  params: jsonObjectSchema,
  seed: z.string(),
  /** The end of the hash chain over what a replay must reproduce, see {@link chainOf}. */
  chain: z.string(),
  /** Milliseconds since the run began, on the machine that played it. */
  time: z.object({ started: z.number(), ended: z.number() }),
  /**
   * Hash of the chain and of the rest of the line, see {@link sealOf}; `null` for a line of format 2, which had none.
   */
  seal: z.string().nullable(),
})

export const episodeRecordSchema = sealedLineSchema.extend({
  policy: recordedPolicySchema,
  /** `null` for an episode that shares nothing with another. */
  branch: branchSchema.nullable(),
  /** The first observation and its Φ; `null` if the session could not be opened. */
  start: z.object({ observation: observationSchema, potential: z.number().nullable() }).nullable(),
  steps: z.array(recordedStepSchema),
  /** Answers of a language model that led to no step. Left out if there were none. */
  undecided: z.array(completionSchema).optional(),
  /** What a language model was sent. Left out if none was asked, or it was not recorded. */
  transcript: transcriptSchema.optional(),
  outcome: outcomeSchema,
  /** `null` for a failed episode. */
  returns: returnsSchema.nullable(),
})
/**
 * One play of a task by one seat, sealed as one line of JSONL. A report is a fold over such lines and over nothing
 * else.
 */
export type EpisodeRecord = Wire<typeof episodeRecordSchema>
