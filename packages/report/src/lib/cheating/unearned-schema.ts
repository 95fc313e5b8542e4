import { z } from 'zod'

export const unearnedSchema = z.object({
  /** Those that did not succeed, and how many of them earned all the same. */
  of: z.int(),
  episodes: z.int(),
  mean: z.number(),
  /** What successful ones earn on average; `null` if none succeeded. */
  least: z.number().nullable(),
})
export type Unearned = z.infer<typeof unearnedSchema>
