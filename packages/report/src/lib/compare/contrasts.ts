import { z } from 'zod'
import { proportionSchema } from '../fold/proportion.ts'
import { figureSchema, gradeFigureSchema, sideSchema } from './comparison.ts'

/**
 * A paired figure, with the p-value of its sign-flip test adjusted for the number of contrasts: `tests`, which earlier
 * versions left out. `smallestP` and `detectable` are those after the adjustment.
 */
const contrastedSchema = z.object({ ...figureSchema.shape, holm: z.number(), tests: z.int().optional() })

/**
 * Several runs of the same tasks, each compared with a baseline: plain JSON, the same for the same sealed episodes in
 * any order. A contrast is over the tasks that have a finished episode in the run and in the baseline.
 */
export const contrastsSchema = z.object({
  format: z.literal(1),
  environment: z.string(),
  baseline: z.string(),
  runs: z.array(
    z.object({
      ...sideSchema.shape,
      /** By its first words, if another run differs in it. */
      prompt: z.string().optional(),
      tasks: z.int(),
      success: z.number(),
      return: z.number(),
      steps: z.number(),
      tokens: z.number().nullable(),
      cost: z.number().nullable(),
      /** Success over its finished episodes, as its own page has it. Left out by earlier versions. */
      rate: proportionSchema.optional(),
      /** Of how many of the `tasks` they are known. Left out by earlier versions. */
      known: z.object({ tokens: z.int(), cost: z.int() }).optional(),
    }),
  ),
  leftOut: z.array(z.object({ run: z.string(), why: z.string() })).default([]),
  tasks: z.object({
    compared: z.int(),
    /** Other tasks of a compared run: the baseline or every other run has no finished episode of them. */
    leftOut: z.int(),
  }),
  successRules: z.array(z.enum(['default', 'world'])),
  /**
   * Success by model and prompt, the mean of a run over its tasks; and what another prompt, or other options, change:
   * of each task the mean over the runs that differ in nothing else, of which there are `pairs`. `holm` is over all
   * effects. `null` if no model is asked in several ways.
   */
  factors: z
    .object({
      prompts: z.array(z.string()),
      /** Models with the options in which runs differ. In each a cell for each prompt; `null` for no run. */
      rows: z.array(z.object({ model: z.string(), success: z.array(z.number().nullable()) })),
      effects: z.array(
        z.object({
          factor: z.enum(['prompt', 'tools', 'options']),
          level: z.string(),
          base: z.string(),
          pairs: z.int(),
          ...contrastedSchema.shape,
        }),
      ),
    })
    .nullable()
    .default(null),
  /** Each other run against the baseline: B − A, the baseline as A. `holm` is over those that have the figure. */
  contrasts: z.array(
    z.object({
      run: z.string(),
      tasks: z.int(),
      success: contrastedSchema,
      passes: z.object({ k: z.int(), any: contrastedSchema, all: contrastedSchema }).nullable().default(null),
      return: contrastedSchema,
      steps: contrastedSchema,
      tokens: contrastedSchema.nullable(),
      cost: contrastedSchema.nullable(),
      grades: z.array(z.object({ ...gradeFigureSchema.shape, ...contrastedSchema.shape })).default([]),
    }),
  ),
})

export type Contrasts = z.infer<typeof contrastsSchema>
export type Factors = NonNullable<Contrasts['factors']>
