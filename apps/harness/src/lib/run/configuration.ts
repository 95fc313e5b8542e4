import { z } from 'zod'
import { HarnessError } from '../harness-error.ts'

/** Everything that decides what a run plays and how it is scored. Two runs with the same one give the same figures. */
export const configurationSchema = z.strictObject({
  environment: z.strictObject({ name: z.string(), version: z.string() }),
  /** Where the tasks come from: a file by its content, or the world's generator. */
  tasks: z.discriminatedUnion('from', [
    z.strictObject({ from: z.literal('dataset'), file: z.string(), sha256: z.string(), split: z.string().nullable() }),
    z.strictObject({
      from: z.literal('generator'),
      count: z.int().min(1),
      difficulty: z.tuple([z.number(), z.number()]),
      split: z.string().nullable(),
    }),
  ]),
  /** By its name, and by its content where it was read from a file. */
  policy: z.strictObject({ name: z.string(), sha256: z.string().nullable() }),
  /** How a language model is asked, where it plays; `null` where none does, or where all is left to its server. */
  sampling: z
    .strictObject({
      temperature: z.number().nullable(),
      maxTokens: z.int().nullable(),
      tokenBudget: z.int().nullable(),
    })
    .nullable()
    .default(null),
  rollouts: z.int().min(1),
  /** Where every line of a rollout is forked, and into how many: in ascending order of the steps. */
  branch: z.array(z.strictObject({ lines: z.int().min(2), at: z.int().min(0) })).default([]),
  maxSteps: z.int().min(1).nullable(),
  weights: z.record(z.string(), z.number()),
  shaping: z.boolean(),
  /** γ of the discounted return, and of shaping. */
  discount: z.number().min(0).max(1),
  seed: z.string(),
})
export type RunConfiguration = z.infer<typeof configurationSchema>

/** What a dataset is called changes nothing: it is compared by its content. */
const NAMES_ALONE: readonly string[] = ['tasks.file']

/** Throws `run-mismatch` where two configurations differ, naming each key and both values. */
export function assertSame(kept: RunConfiguration, asked: RunConfiguration, folder: string): void {
  const differences = differencesOf(kept, asked).map(([key, was, is]) => `${key}: was ${was}, now ${is}`)
  if (differences.length > 0)
    throw new HarnessError(
      'run-mismatch',
      `${folder} holds a run with another configuration:\n${differences.map((line) => `  ${line}`).join('\n')}\nResume it as it was, or give another --out.`,
    )
}

/** The keys in which two configurations differ, each with both of its values as JSON. */
export function differencesOf(one: RunConfiguration, other: RunConfiguration): Difference[] {
  return compare(one, other, '')
}
type Difference = readonly [key: string, one: string, other: string]

function compare(kept: unknown, asked: unknown, path: string): Difference[] {
  if (NAMES_ALONE.includes(path) && kept !== undefined && asked !== undefined) return []
  if (isRecord(kept) && isRecord(asked))
    return [...new Set([...Object.keys(kept), ...Object.keys(asked)])].flatMap((key) =>
      compare(kept[key], asked[key], path ? `${path}.${key}` : key),
    )
  const [was, is] = [`${JSON.stringify(kept)}`, `${JSON.stringify(asked)}`]
  return was === is ? [] : [[path, was, is]]
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
