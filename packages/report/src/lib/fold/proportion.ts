import { z } from 'zod'

/** A share of episodes with its 95 % interval, which is `null` for fewer than two clusters. */
export const proportionSchema = z.object({
  successes: z.int(),
  count: z.int(),
  /** Groups of episodes that are not independent of each other: the attempts of one task are one cluster. */
  clusters: z.int(),
  rate: z.number().nullable(),
  low: z.number().nullable(),
  high: z.number().nullable(),
})
export type Proportion = z.infer<typeof proportionSchema>
