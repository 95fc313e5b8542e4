import { z } from 'zod'
import { jsonObjectSchema } from '../base/json.ts'
import type { Wire } from '../base/wire.ts'
import { attachmentSchema } from './attachment.ts'

/** A part of the text of an observation that is a resource, or stands for a link to one. */
export const resourceInTextSchema = z.object({
  /** `resource`: the part is its content. `resource_link`: the part is a note of its name and URI. */
  type: z.enum(['resource', 'resource_link']),
  uri: z.string(),
  /** The first character of the part, and the first one after it. */
  from: z.int().min(0),
  to: z.int().min(0),
  mimeType: z.string().optional(),
  /** Of a link alone, as the next three. */
  name: z.string().optional(),
  title: z.string().optional(),
  description: z.string().optional(),
  /** Bytes. */
  size: z.int().min(0).optional(),
})
export type ResourceInText = Wire<typeof resourceInTextSchema>

export const observationSchema = z.object({
  text: z.string(),
  structured: jsonObjectSchema.nullable(),
  /** Pictures, sounds and files, in their order. Left out if there are none. */
  attachments: z.array(attachmentSchema).optional(),
  /** The parts of the text that are resources of MCP, in their order. Left out if there are none. */
  resources: z.array(resourceInTextSchema).optional(),
  /** The names of the tools that the player has now. Left out if these are all of its seat. */
  tools: z.array(z.string()).optional(),
})
/** What the agent observes: a text, the same as data if the environment provides it, and pictures, sounds and files. */
export type Observation = Wire<typeof observationSchema>
