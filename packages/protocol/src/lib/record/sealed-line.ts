import { z } from 'zod'
import { jsonObjectSchema, jsonSchema } from '../base/json.ts'
import type { Wire } from '../base/wire.ts'
import { observationSchema } from '../wire/observation.ts'
import { recordedEventSchema } from '../wire/outside-event.ts'
import { actionSchema, refusalSchema } from '../wire/step.ts'
import { completionSchema } from './completion.ts'
import { toolFaultSchema } from './faults/tool-fault.ts'
import { splitSchema } from './task.ts'

const curriculumPlaceSchema = z.object({
  /** Numbers the draws of the run, from 0. All rollouts of a drawn task have the same number. */
  draw: z.int().min(0),
  /** The name of the stage; `null` in a curriculum without stages. */
  stage: z.string().nullable(),
})

const originSchema = z.object({
  /** The seal of the line that it continues, which the run keeps beside its own lines. */
  seal: z.string(),
  /** How many steps of that episode come before: its first ones, with those that it continued itself. */
  step: z.int().min(0),
  /** Seed of the world from there on; `null` if the random streams went on. */
  seed: z.string().nullable(),
  /** The action that was played first, in place of one that a player chose. */
  call: actionSchema.extend({ seat: z.string().optional() }).optional(),
  /** The text that players read in place of what that step had answered. */
  answer: z.string().optional(),
})
/** The step of an earlier episode from which an episode goes on, and what was changed there. */
export type Origin = Wire<typeof originSchema>

/** What every line of a run says, whatever was played: `EpisodeRecord` and `MatchRecord` are made of it. */
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
  /** Where it goes on from an earlier episode: `start` and `steps` are those since. Left out for a whole episode. */
  origin: originSchema.optional(),
  environment: z.object({ name: z.string(), version: z.string() }),
  params: jsonObjectSchema,
  seed: z.string(),
  /** In the order in which the player met them. Left out if there were none. */
  faults: z.array(toolFaultSchema).optional(),
  /** The end of the hash chain over what a replay must reproduce, see {@link chainOf}. */
  chain: z.string(),
  /** Milliseconds since the run began, on the machine that played it. */
  time: z.object({ started: z.number(), ended: z.number() }),
  /** Hash of the chain and of the rest of the line, see {@link sealOf}; `null` for format 2, which had none. */
  seal: z.string().nullable(),
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

/** What a seat sees first, and Φ there. */
export const startShape = { observation: observationSchema, potential: z.number().nullable() } as const

/** The fields of a step in lines of one seat and of several. Times are milliseconds. */
export const recordedStepShape = {
  action: actionSchema,
  /** `true`: words were said, which are the only argument of the tool. Left out for every other action. */
  speech: z.literal(true).optional(),
  observation: observationSchema,
  /** Φ after the step; `null` if the environment defines none. */
  potential: z.number().nullable(),
  refused: refusalSchema.nullable(),
  /** Hash of the state after the step; `null` if an external server kept the state. */
  stateHash: z.string().nullable(),
  /** From sending the action to receiving the answer; `null` if unknown, as of an agent that plays by itself. */
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

export const failureSchema = z.object({ code: z.string(), message: z.string() })

/** What a finished episode earned. All are sums over its steps; `discounted` weighs step t (from 0) by γ^t. */
export const returnsSchema = z.object({
  /** Sum of `reward.total`: weighted and shaped, what a learner optimises. */
  total: z.number(),
  /** Sum of the weighted terms alone: `total` without shaping. */
  unshaped: z.number(),
  /** Σ γ^t · `reward.total` of step t. */
  discounted: z.number(),
})
