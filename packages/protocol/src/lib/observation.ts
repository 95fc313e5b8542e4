import { z } from 'zod'
import { type JsonObject, jsonObjectSchema } from './json.ts'

/** What the agent observes: a text, and the same as data if the environment provides it. */
export interface Observation {
  readonly text: string
  readonly structured: JsonObject | null
}
export const observationSchema: z.ZodType<Observation> = z.object({
  text: z.string(),
  structured: jsonObjectSchema.nullable(),
})
