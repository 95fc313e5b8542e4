import { z } from 'zod'
import { jsonObjectSchema } from './json.ts'
import type { Transcript } from './transcript.ts'

// Apart from the functions over transcripts: pages use those, and do without the library of schemas.
const reference = z.strictObject({ from: z.enum(['completion', 'step']), index: z.int().min(0) })
export const transcriptSchema: z.ZodType<Transcript> = z.object({
  by: z.enum(['harness', 'proxy', 'agent']),
  messages: z.array(z.union([reference, jsonObjectSchema])),
  tools: z.array(jsonObjectSchema),
  cut: z.int().min(0).optional(),
})
