import { z } from 'zod'
import { jsonObjectSchema } from '../base/json.ts'
import type { Wire } from '../base/wire.ts'
import { attachmentSchema } from './attachment.ts'

export const observationSchema = z.object({
  text: z.string(),
  structured: jsonObjectSchema.nullable(),
  /** Pictures and sounds, in their order. Left out if there are none. */
  attachments: z.array(attachmentSchema).optional(),
})
/** What the agent observes: a text, the same as data if the environment provides it, and pictures and sounds. */
export type Observation = Wire<typeof observationSchema>
