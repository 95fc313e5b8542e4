import { z } from 'zod'
import type { Wire } from '../base/wire.ts'
import { episodeEndSchema, judgementShape, playerStoppedSchema } from '../wire/episode-end.ts'
import { rewardSchema } from '../wire/step.ts'
import { completionSchema } from './completion.ts'
import {
  failureSchema,
  recordedPolicySchema,
  recordedStepShape,
  returnsSchema,
  sealedLineSchema,
  startShape,
} from './sealed-line.ts'
import { transcriptSchema } from './transcript-schema.ts'

const recordedStepSchema = z.object({ ...recordedStepShape, reward: rewardSchema })
/** One step as it is kept. */
export type RecordedStep = Wire<typeof recordedStepSchema>

/**
 * Finished episodes have a return. A failed one is a fault of ours or of the environment: it has an error and never a
 * score. `stopped` is set if the player ended the episode: it is truncated for that reason, and `success` is `false`.
 */
const outcomeSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('finished'),
    end: episodeEndSchema,
    ...judgementShape,
    stopped: playerStoppedSchema.optional(),
  }),
  z.object({ kind: z.literal('failed'), error: failureSchema }),
])

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

export const episodeRecordSchema = sealedLineSchema.extend({
  policy: recordedPolicySchema,
  /** `null` for an episode that shares nothing with another. */
  branch: branchSchema.nullable(),
  /** The first observation and its Φ; `null` if the session could not be opened. */
  start: z.object(startShape).nullable(),
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
