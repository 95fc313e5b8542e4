import { z } from 'zod'
import { figureSchema, gradeFigureSchema, sideSchema } from './comparison.ts'

/** A paired figure with its p-value adjusted for the number of contrasts. */
const contrastedSchema = z.object({ ...figureSchema.shape, holm: z.number() })

/**
 * Several runs of the same tasks, each compared with a baseline: plain JSON, the same for the same sealed episodes in any
 * order. All figures are over the tasks that have a finished episode in every run.
 */
export const contrastsSchema = z.object({
  /** Version of this shape. */
  format: z.literal(1),
  /** As `name@version`. */
  environment: z.string(),
  baseline: z.string(),
  /** The baseline first. Tokens and cost are of an episode; `null` where they are not known of all. */
  runs: z.array(
    z.object({
      ...sideSchema.shape,
      success: z.number(),
      return: z.number(),
      steps: z.number(),
      tokens: z.number().nullable(),
      cost: z.number().nullable(),
    }),
  ),
  tasks: z.object({
    compared: z.int(),
    /** Tasks that some run lacks, or has no finished episode of. */
    leftOut: z.int(),
  }),
  /** The rules of success that applied. */
  successRules: z.array(z.enum(['default', 'world'])),
  /** Each other run against the baseline, B − A with the baseline as A. `holm` is over the contrasts of one figure. */
  contrasts: z.array(
    z.object({
      run: z.string(),
      success: contrastedSchema,
      return: contrastedSchema,
      steps: contrastedSchema,
      tokens: contrastedSchema.nullable(),
      cost: contrastedSchema.nullable(),
      /** By each grader that all runs have, over the tasks that it graded in all. */
      grades: z.array(z.object({ ...gradeFigureSchema.shape, ...contrastedSchema.shape })).default([]),
    }),
  ),
})

export type Contrasts = z.infer<typeof contrastsSchema>
