import { z } from 'zod'

const estimateSchema = z.object({
  mean: z.number(),
  low: z.number().nullable(),
  high: z.number().nullable(),
  standardError: z.number().nullable(),
  count: z.int(),
  clusters: z.int(),
})

const figureSchema = z
  .object({
    /** Means over tasks. */
    a: z.number(),
    b: z.number(),
    /** B − A, paired by task. */
    difference: estimateSchema,
    /** Tasks in which B is higher, lower, and equal. */
    higher: z.int(),
    lower: z.int(),
    equal: z.int(),
    /** Of the exact two-sided sign test over tasks. */
    p: z.number(),
    effect: z.enum(['higher', 'lower', 'same', 'unclear']),
  })
  .nullable()

const sideSchema = z.object({
  name: z.string(),
  policy: z.string(),
  scheduled: z.int(),
  finished: z.int(),
  /** Void: never scored, and in no figure. */
  failed: z.int(),
  /** Scheduled, and not sealed. */
  unresolved: z.int(),
})

const endSchema = z.object({ ending: z.string(), steps: z.int(), unshaped: z.number() })

/** An episode that one run solved and the other did not. */
const flipSchema = z.object({ task: z.string(), attempt: z.int(), a: endSchema, b: endSchema })

/** Tasks of one run alone; a few are named. */
const aloneSchema = z.object({ count: z.int(), named: z.array(z.string()) })

/**
 * How two runs of the same tasks differ: plain JSON, and the same for the same sealed episodes in any order.
 *
 * Each task counts once: its figure in a run is the mean over the finished episodes that the run has of it. Failed episodes
 * are void: counted, and in no figure. Intervals are 95 %.
 */
export const comparisonSchema = z.object({
  /** Version of this shape. */
  format: z.literal(1),
  /** As `name@version`. */
  environment: z.string(),
  a: sideSchema,
  b: sideSchema,
  /** Keys in which the runs' configurations differ, with the values of both as JSON. */
  configuration: z.array(z.object({ key: z.string(), a: z.string(), b: z.string() })),
  tasks: z.object({
    /** In both runs. */
    shared: z.int(),
    /** In both runs, with a finished episode in each: what figures are over. */
    compared: z.int(),
    onlyA: aloneSchema,
    onlyB: aloneSchema,
  }),
  /** Figures of the compared tasks; `null` where there is none. */
  success: figureSchema,
  /** Which rules judged success in the shared tasks: the world's own, or the default one. */
  successRules: z.array(z.enum(['default', 'world'])).default([]),
  /** Of unshaped returns. */
  return: figureSchema,
  /** Steps of an episode, whatever its end. */
  length: figureSchema,
  /** Episodes of one task and attempt that finished in both runs. */
  episodes: z.object({
    paired: z.int(),
    /** Failed to solve in A, solved in B. The first hundred by task and attempt. */
    gained: z.object({ count: z.int(), flips: z.array(flipSchema) }),
    /** Solved in A, not in B. The same. */
    lost: z.object({ count: z.int(), flips: z.array(flipSchema) }),
  }),
  /** Difference in success rate in each tenth of difficulty; empty ones are left out. */
  byDifficulty: z.array(z.object({ from: z.number(), to: z.number(), ...estimateSchema.shape })),
  /** Differences in unshaped return, in ascending order: of every task, or of 500 at equal distances in that order. */
  byTask: z.array(z.object({ task: z.string(), difference: z.number() })),
})

export type Comparison = z.infer<typeof comparisonSchema>
export type Flip = z.infer<typeof flipSchema>
