import { canonicalJson, contentId, jsonObjectSchema } from '@episodic/protocol'
import { z } from 'zod'
import { toolAnswerShape } from './call-tool.ts'

export const serverCallSchema = z.object({ tool: z.string(), arguments: jsonObjectSchema, ...toolAnswerShape })
export type ServerCall = Readonly<z.infer<typeof serverCallSchema>>

const callsSchema = z.array(serverCallSchema).nullable()

/** What a step keeps of the world's own calls; `null` for calls that are too large to be kept. */
export const worldCallsSchema = z.object({
  /** With the first step. */
  setup: callsSchema.optional(),
  judging: callsSchema.optional(),
  score: z.number().nullable(),
})

export type WorldCalls = z.infer<typeof worldCallsSchema>

export const NO_CALLS = ''

/** Returns a name of calls and their answers, in their order: that of the calls before, and one more. */
export function trailAfter(
  before: string,
  { tool, arguments: args, text, structured, isError, attachments }: ServerCall,
) {
  return contentId(canonicalJson([before, tool, args, text, structured, isError, (attachments ?? []) as never]))
}

export function trailOf(calls: readonly ServerCall[]): string {
  return calls.reduce(trailAfter, NO_CALLS)
}
