import { z } from 'zod'
import { jsonObjectSchema } from '../base/json.ts'
import type { Wire } from '../base/wire.ts'

// Apart from the functions over transcripts: pages use those, and do without the library of schemas.
const referenceSchema = z.strictObject({ from: z.enum(['completion', 'step']), index: z.int().min(0) })
/**
 * A message that is elsewhere in the line: `completion` is an answer of the model, sent back to it, and `step` what the
 * environment answered to the call of that step. Completions are numbered over all steps, and then over `undecided`.
 */
export type MessageReference = Wire<typeof referenceSchema>

export const transcriptSchema = z.object({
  /**
   * Who recorded it: the harness, which itself asked the model; a proxy between an agent and its models; or the agent.
   * Of the latter two, completions belong to a step by time: its call was the next, and need not follow from them.
   */
  by: z.enum(['harness', 'proxy', 'agent']),
  messages: z.array(z.union([referenceSchema, jsonObjectSchema])),
  tools: z.array(jsonObjectSchema),
  /** Characters that were left out of its messages and tools, which say so in their place. Left out if none were. */
  cut: z.int().min(0).optional(),
})
/**
 * All that a language model was sent in one play, each message and tool once. Each completion says which of them were
 * in its request, see `requestsOf`.
 */
export type Transcript = Wire<typeof transcriptSchema>
