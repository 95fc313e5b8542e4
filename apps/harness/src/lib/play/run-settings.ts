import { z } from 'zod'
import { WHOLE_RANGE } from '../base/option-values.ts'
import { modelOptionsSchema } from '../models/model-options.ts'
import { CURRICULA, stageSchema } from '../run-folder/plan/curriculum-settings.ts'
import { RETRY_TIMEOUT, TRANSPORTS } from './episodes/open-environment.ts'
import { RETRIED } from './plan/tries.ts'

/** Episodes in flight at once for each process: with fewer, a process waits for the next ones most of the time. */
export const CONCURRENCY = 64

/** Seconds: a week. */
export const LONGEST_EPISODE = 604_800

/** How a process plays the episodes of a run: the settings that are sent to the workers of a queue. */
export const playSettingsSchema = z.object({
  transport: z.enum(TRANSPORTS).optional(),
  workerThreads: z.boolean().optional(),
  /** Seconds. */
  retryTimeout: z.int().min(0).default(RETRY_TIMEOUT),
  recordModels: z.boolean().optional(),
  url: z.string().optional(),
  ...modelOptionsSchema.shape,
})
export type PlaySettings = z.infer<typeof playSettingsSchema>

const optionsSchema = z.object({
  dataset: z.string().optional(),
  tasks: z.int().min(1).default(100),
  difficulty: z.tuple([z.number(), z.number()]).default(WHOLE_RANGE),
  split: z.string().optional(),
  policy: z.string().optional(),
  seat: z.record(z.string(), z.string()).optional(),
  focus: z.string().optional(),
  /** The version of the weights of the policy, and of every seat that it plays. */
  policyVersion: z.string().min(1).optional(),
  rollouts: z.int().min(1).default(1),
  branch: z.array(z.object({ lines: z.int().min(2), at: z.int().min(0) })).default([]),
  curriculum: z.enum(CURRICULA).optional(),
  stages: z.array(stageSchema).optional(),
  adaptive: z.record(z.string(), z.number()).optional(),
  concurrency: z.int().min(1).optional(),
  processes: z.int().min(1).max(256).default(1),
  /** The URL of a queue whose workers play. */
  queue: z.string().optional(),
  /** Seconds of silence after which a process of the queue counts as ended. */
  lease: z.number().optional(),
  maxSteps: z.int().min(1).optional(),
  /** Seconds. */
  episodeTimeout: z.int().min(1).max(LONGEST_EPISODE).optional(),
  weights: z.record(z.string(), z.number()).default({}),
  shaping: z.boolean().optional(),
  discount: z.number().min(0).max(1).default(1),
  seed: z.string().min(1).default('0'),
  retryFailed: z.enum(RETRIED).optional(),
  tries: z.int().min(2).default(3),
  token: z.string().optional(),
  config: z.string().optional(),
  server: z.string().optional(),
  ...playSettingsSchema.shape,
})
/**
 * How a run is asked for: what the options of `episodic run` say, as plain JSON, so that it can be kept in a file and
 * sent to another process. `runSettingsSchema.parse({})` gives the defaults.
 */
export const runSettingsSchema = optionsSchema.transform((options) => ({
  ...options,
  concurrency: options.concurrency ?? CONCURRENCY * options.processes,
}))
export type RunSettings = z.infer<typeof runSettingsSchema>
