import { z } from 'zod'
import { unearnedSchema } from '../cheating/unearned-schema.ts'
import { boundsSchema, estimateSchema, retriedSchema } from '../fold/summary.ts'

export const figureSchema = z.object({
  a: z.number(),
  b: z.number(),
  difference: estimateSchema,
  higher: z.int(),
  lower: z.int(),
  equal: z.int(),
  /** The p-value of the two-sided sign-flip test of the differences; `exact` unless it is from 19,999 random draws. */
  p: z.number(),
  exact: z.boolean(),
  smallestP: z.number(),
  /** The p-value of the exact two-sided sign test, which sees in how many tasks B is higher, and not by how much. */
  signP: z.number(),
  /** The smallest true difference that such tasks show with 80 % power at 5 %; `null` if they do not vary. */
  detectable: z.number().nullable(),
  /** The direction of B; `unclear` if `p` is not below 0.05. */
  effect: z.enum(['higher', 'lower', 'same', 'unclear']),
})

export const gradeFigureSchema = z.object({ name: z.string(), unit: z.enum(['share', 'score']) })

export const sideSchema = z.object({
  name: z.string(),
  policy: z.string(),
  scheduled: z.int(),
  finished: z.int(),
  /** Not scored, and in no figure. */
  failed: z.int(),
  unresolved: z.int(),
  /** Between which values the mean success rate over its tasks lies if all failed episodes were lost, and all won. */
  bounds: boundsSchema,
  retried: retriedSchema,
  unearned: unearnedSchema.optional(),
})

const endSchema = z.object({ ending: z.string(), steps: z.int(), unshaped: z.number() })

const flipSchema = z.object({
  task: z.string(),
  taskInB: z.string().optional(),
  attempt: z.int(),
  a: endSchema,
  b: endSchema,
})

const aloneSchema = z.object({ count: z.int(), named: z.array(z.string()) })

/**
 * The differences between two runs of the same tasks: plain JSON, the same for the same sealed episodes in any order.
 *
 * Each task counts once: its figure in a run is the mean over its finished episodes. Failed episodes are counted, but
 * are in no figure. Intervals are 95 %.
 */
export const comparisonSchema = z.object({
  format: z.literal(1),
  environment: z.string(),
  a: sideSchema,
  b: sideSchema,
  configuration: z.array(z.object({ key: z.string(), a: z.string(), b: z.string() })),
  tasks: z.object({
    shared: z.int(),
    /** With a finished episode in each run: the figures are over these. */
    compared: z.int(),
    onlyA: aloneSchema,
    onlyB: aloneSchema,
    promptsDiffer: z.int().default(0),
  }),
  success: figureSchema.nullable(),
  successRules: z.array(z.enum(['default', 'world'])).default([]),
  /** Whether the seed of a task decides all of its chance. If not, a task may have been another one in each run. */
  seeded: z.boolean().default(true),
  /**
   * Whether one of `k` attempts succeeds (pass@k), and whether all do (pass^k), over the tasks with so many finished
   * attempts in both runs; `k` is the largest that some task has in both. `null` below 2, and for branched runs, whose
   * attempts share steps.
   */
  passes: z.object({ k: z.int(), any: figureSchema, all: figureSchema }).nullable().default(null),
  return: figureSchema.nullable(),
  length: figureSchema.nullable(),
  /** Tokens read and written for an episode, and their cost; `null` unless both runs have them for a task. */
  tokens: figureSchema.nullable().default(null),
  cost: figureSchema.nullable().default(null),
  grades: z.array(z.object({ ...gradeFigureSchema.shape, ...figureSchema.shape })).default([]),
  episodes: z.object({
    paired: z.int(),
    /** Solved only in B. The first hundred by task and attempt. */
    gained: z.object({ count: z.int(), flips: z.array(flipSchema) }),
    /** Solved only in A. The first hundred by task and attempt. */
    lost: z.object({ count: z.int(), flips: z.array(flipSchema) }),
  }),
  /** Difference in success rate in each tenth of difficulty; empty ones are left out. */
  byDifficulty: z.array(z.object({ from: z.number(), to: z.number(), ...estimateSchema.shape })),
  /** Differences in unshaped return, in ascending order: of every task, or of 500 evenly spaced ones. */
  byTask: z.array(z.object({ task: z.string(), difference: z.number() })),
})

export type Comparison = z.infer<typeof comparisonSchema>
export type PairedFigure = z.infer<typeof figureSchema>
export type Flip = z.infer<typeof flipSchema>
