import type { BranchPoint } from '@episodic/env'
import { actionSchema, jsonObjectSchema } from '@episodic/protocol'
import { z } from 'zod'
import { HarnessError } from '../../base/harness-error.ts'
import { curriculumSchema } from './curriculum-settings.ts'
import { toolFaultRatesSchema } from './faults/tool-fault-rates.ts'

/** The name of a policy, its content if it was read from a file, and the version of its weights if it was given. */
const policySchema = z.strictObject({
  name: z.string(),
  sha256: z.string().nullable(),
  version: z.string().min(1).optional(),
})

/** The steps of an earlier run that a run goes on from, and what it changes there. */
const continuesSchema = z.strictObject({
  run: z.string(),
  /** Steps of its lines: `step` steps come before. Each is continued `rollouts` times. */
  points: z.array(
    z.strictObject({ task: z.string(), attempt: z.int().min(0), seal: z.string(), step: z.int().min(0) }),
  ),
  changes: z.strictObject({
    call: actionSchema.extend({ seat: z.string().optional() }).optional(),
    answer: z.string().optional(),
    /** The task's prompt, and descriptions of tools, that players read in place of those of the world. */
    prompt: z.string().optional(),
    describe: z.record(z.string(), z.string()).optional(),
    /** Seed of new chance; left out if the random streams of the world go on. */
    seed: z.string().optional(),
  }),
})
export type Continues = z.infer<typeof continuesSchema>

/**
 * Everything that decides what a run plays and how it is scored. Runs with the same configuration have the same
 * figures.
 */
export const configurationSchema = z.strictObject({
  environment: z.strictObject({
    name: z.string(),
    version: z.string(),
    /** The system whose server plays it, if it is not Episodic's. */
    system: z.enum(['episodic', 'mcp', 'ors', 'openenv']).optional(),
  }),
  /** A file, identified by its content, or what the world generates or its server lists. */
  tasks: z.discriminatedUnion('from', [
    z.strictObject({ from: z.literal('dataset'), file: z.string(), sha256: z.string(), split: z.string().nullable() }),
    z.strictObject({
      from: z.literal('generator'),
      count: z.int().min(1),
      difficulty: z.tuple([z.number(), z.number()]),
      split: z.string().nullable(),
    }),
  ]),
  /** With several seats, that of the seat in `focus`. */
  policy: policySchema,
  seats: z.record(z.string(), policySchema).optional(),
  focus: z.string().optional(),
  /** How a language model is asked; `null` for other policies, or if none of it was given. */
  sampling: z
    .strictObject({
      temperature: z.number().nullable(),
      maxTokens: z.int().nullable(),
      tokenBudget: z.int().nullable(),
      /** What models are sent before the task; left out for the usual words. */
      systemPrompt: z.string().optional(),
      /** Descriptions of tools that models read in place of those of the world; left out for none. */
      describe: z.record(z.string(), z.string()).optional(),
      /** `false` if only the first call of an answer is played; left out otherwise. */
      parallelToolCalls: z.literal(false).optional(),
      /** `false` if models are sent notes in place of pictures; left out otherwise. */
      images: z.literal(false).optional(),
      /** Fields of requests, of which `null` is left out. */
      modelOption: jsonObjectSchema.optional(),
      /** Headers of requests. `env:<VARIABLE>` stands for the value of a variable. */
      modelHeader: z.record(z.string(), z.string()).optional(),
    })
    .nullable()
    .default(null),
  rollouts: z.int().min(1),
  /** What has to be known of success for the run to end; see `UNTIL`. */
  until: z.string().optional(),
  toolFaults: toolFaultRatesSchema.optional(),
  /** The steps at which every line of a rollout is forked, ascending, and into how many lines. */
  branch: z.array(z.strictObject({ lines: z.int().min(2), at: z.int().min(0) })).default([]),
  curriculum: curriculumSchema.optional(),
  continues: continuesSchema.optional(),
  maxSteps: z.int().min(1).nullable(),
  /** Seconds that players may take for an episode; left out for no limit, and half an hour for agents. */
  episodeTimeout: z.int().min(1).optional(),
  weights: z.record(z.string(), z.number()),
  shaping: z.boolean(),
  /** γ of the discounted return, and of shaping. */
  discount: z.number().min(0).max(1),
  seed: z.string(),
})
export type RunConfiguration = z.infer<typeof configurationSchema>

/** The settings of a run that plays each task once and scores it as its world does. */
export const UNCHANGED = {
  rollouts: 1,
  branch: [] as RunConfiguration['branch'],
  maxSteps: null,
  weights: {},
  shaping: false,
  discount: 1,
} as const

/** Keys that are not compared: a dataset is identified by its content, not by its name. */
const NOT_COMPARED: readonly string[] = ['tasks.file']

/** Throws `run-mismatch` if two configurations differ, naming each key and both values. */
export function assertSame(kept: RunConfiguration, asked: RunConfiguration, folder: string): void {
  const differences = differencesOf(kept, asked).map(([key, was, is]) => `${key}: was ${was}, now ${is}`)
  if (differences.length > 0)
    throw new HarnessError('run-mismatch', [
      `${folder} holds a run with another configuration:`,
      ...differences.map((line) => `  ${line}`),
      'Resume it with its own configuration, or give another --out.',
    ])
}

type Difference = readonly [key: string, one: string, other: string]

/** Returns the keys in which two configurations differ, with both values as JSON. */
export function differencesOf(kept: unknown, asked: unknown, path = ''): Difference[] {
  if (NOT_COMPARED.includes(path) && kept !== undefined && asked !== undefined) return []
  // Where nothing of a group was given, there is no group.
  const [one, other] = [kept ?? {}, asked ?? {}]
  if (isRecord(one) && isRecord(other) && (isRecord(kept) || isRecord(asked)))
    return [...new Set([...Object.keys(one), ...Object.keys(other)])].flatMap((key) => {
      const isAlone = !kept || !asked
      if (isAlone && (one[key] ?? other[key] ?? null) === null) return []
      return differencesOf(one[key], other[key], path ? `${path}.${key}` : key)
    })
  const [was, is] = [JSON.stringify(kept) ?? 'not given', JSON.stringify(asked) ?? 'not given']
  return was === is ? [] : [[path, was, is]]
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns the number of episodes in a rollout that is forked at these points: 1 if there are none. */
export function countLeaves(points: readonly Pick<BranchPoint, 'lines'>[]): number {
  return points.reduce((leaves, { lines }) => leaves * lines, 1)
}
