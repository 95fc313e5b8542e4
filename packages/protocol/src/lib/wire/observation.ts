import { z } from 'zod'
import { jsonObjectSchema } from '../base/json.ts'
import type { Wire } from '../base/wire.ts'

export const observationSchema = z.object({
  text: z.string(),
  structured: jsonObjectSchema.nullable(),
})
/** What the agent observes: a text, and the same as data if the environment provides it. */
export type Observation = Wire<typeof observationSchema>
