import { z } from 'zod'
import { type EpisodeEnd, episodeEndSchema } from './episode-end.ts'
import { type Json, type JsonObject, jsonObjectSchema, jsonSchema } from './json.ts'
import { type RecordedEvent, recordedEventSchema } from './outside-event.ts'
import {
  type Action,
  actionSchema,
  type Observation,
  observationSchema,
  type Refusal,
  type Reward,
  refusalSchema,
} from './step.ts'
import { type Split, splitSchema } from './task.ts'

/** One answer of a language model that a policy asked for on its way to an action. */
export interface Completion {
  /** The model, as the server named it. */
  readonly model: string
  /** As the server counted them; 0 where it did not. */
  readonly promptTokens: number
  readonly completionTokens: number
  /** In the currency of the prices that the policy was given; `null` where it was given none. */
  readonly cost: number | null
  /** What it said besides calling a tool; `null` for nothing. */
  readonly text: string | null
  /** Ids of the tokens that the model read and wrote, and ln p of each that it wrote: as the server gave them, never tokenised anew. Left out where it gave none. */
  readonly promptTokenIds?: readonly number[] | undefined
  readonly tokenIds?: readonly number[] | undefined
  readonly logProbabilities?: readonly number[] | undefined
}

const completionSchema: z.ZodType<Completion> = z.object({
  model: z.string(),
  promptTokens: z.int().min(0),
  completionTokens: z.int().min(0),
  cost: z.number().min(0).nullable(),
  text: z.string().nullable(),
  promptTokenIds: z.array(z.int()).optional(),
  tokenIds: z.array(z.int()).optional(),
  logProbabilities: z.array(z.number()).optional(),
})

/** One step as it is kept. Times are milliseconds. */
export interface RecordedStep {
  readonly action: Action
  readonly observation: Observation
  readonly reward: Reward
  /** Φ after the step; `null` where the world has none. */
  readonly potential: number | null
  readonly refused: Refusal | null
  /** Hash of what the world went on from; `null` where a foreign server kept the state. */
  readonly stateHash: string | null
  /** From sending the action to having the answer; `null` where it is not known, as of an agent that plays by itself. */
  readonly milliseconds: number | null
  /** Outside events since the step before, oldest first. Left out where there were none. */
  readonly events?: readonly RecordedEvent[] | undefined
  /** What was prepared outside for this step, so that a replay needs nothing from there. Left out where nothing was. */
  readonly prepared?: Json | undefined
  /** What a language model was asked for this step, the last one deciding it. Left out where none was. */
  readonly completions?: readonly Completion[] | undefined
}

/**
 * Finished episodes have a return. A failed one is our fault or the world's: it has a cause and never a score. `success` is
 * what the world's own definition of success came to; left out where the world defines none.
 */
export type Outcome =
  | { readonly kind: 'finished'; readonly end: EpisodeEnd; readonly success?: boolean | undefined }
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
 * Where an episode stands in a tree of episodes that share their beginnings: one leaf of it. Its steps hold the shared ones
 * too. `path`, `at` and `seeds` have one entry for each branch point that it got to.
 */
export interface Branch {
  /** Numbers the trees of a task, from 0. */
  readonly rollout: number
  /** Leaves of a whole tree: those of this one are the attempts from `rollout * leaves` up. */
  readonly leaves: number
  /** How many leaves are this very play: 1, and more where it was over before its next branch point. Each is sealed. */
  readonly copies: number
  /** Which line it is from there on: 0 for the one that was forked and went on as it was, others for its forks. */
  readonly path: readonly number[]
  /** How many steps were answered there. */
  readonly at: readonly number[]
  /** Seed of the world from there on; `null` where its chance went on. */
  readonly seeds: readonly (string | null)[]
}

/** One play of a task, sealed as one line of JSONL. A report is a fold over such lines and over nothing else. */
export interface EpisodeRecord {
  /** Version of this shape. */
  readonly format: 2
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
  readonly environment: { readonly name: string; readonly version: string }
  readonly params: JsonObject
  readonly seed: string
  readonly policy: { readonly name: string; readonly seed: string }
  /** `null` for an episode that shares nothing with another. */
  readonly branch: Branch | null
  /** What the player was told at the start, and Φ there; `null` when the world never opened. */
  readonly start: { readonly observation: Observation; readonly potential: number | null } | null
  readonly steps: readonly RecordedStep[]
  readonly outcome: Outcome
  /** What a language model was asked and no step came of. Left out where nothing was. */
  readonly undecided?: readonly Completion[] | undefined
  /** `null` for a failed episode. */
  readonly returns: Returns | null
  /** The end of the hash chain over what a replay must reproduce, see {@link chainOf}. */
  readonly chain: string
  /** Milliseconds since the run began, on the machine that played it. */
  readonly time: { readonly started: number; readonly ended: number }
}

const rewardSchema = z.object({ total: z.number(), terms: z.record(z.string(), z.number()), shaping: z.number() })

const branchSchema = z.object({
  rollout: z.int().min(0),
  leaves: z.int().min(2),
  copies: z.int().min(1),
  path: z.array(z.int().min(0)),
  at: z.array(z.int().min(0)),
  seeds: z.array(z.string().nullable()),
})

export const episodeRecordSchema: z.ZodType<EpisodeRecord> = z.object({
  format: z.literal(2),
  run: z.string(),
  task: z.object({
    id: z.string(),
    prompt: z.string(),
    difficulty: z.number(),
    split: splitSchema,
    tags: z.array(z.string()),
  }),
  attempt: z.int().min(0),
  environment: z.object({ name: z.string(), version: z.string() }),
  params: jsonObjectSchema,
  seed: z.string(),
  policy: z.object({ name: z.string(), seed: z.string() }),
  branch: branchSchema.nullable(),
  start: z.object({ observation: observationSchema, potential: z.number().nullable() }).nullable(),
  steps: z.array(
    z.object({
      action: actionSchema,
      observation: observationSchema,
      reward: rewardSchema,
      potential: z.number().nullable(),
      refused: refusalSchema.nullable(),
      stateHash: z.string().nullable(),
      milliseconds: z.number().nullable(),
      events: z.array(recordedEventSchema).optional(),
      prepared: jsonSchema.optional(),
      completions: z.array(completionSchema).optional(),
    }),
  ),
  undecided: z.array(completionSchema).optional(),
  outcome: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('finished'), end: episodeEndSchema, success: z.boolean().optional() }),
    z.object({ kind: z.literal('failed'), error: z.object({ code: z.string(), message: z.string() }) }),
  ]),
  returns: z.object({ total: z.number(), unshaped: z.number(), discounted: z.number() }).nullable(),
  chain: z.string(),
  time: z.object({ started: z.number(), ended: z.number() }),
})
