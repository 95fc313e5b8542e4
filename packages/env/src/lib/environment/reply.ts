import type { JsonObject, Observation } from '@episodic/protocol'
import { z } from 'zod'
import { EnvError } from '../env-error.ts'

/** The part of a `tools/call` result that is read here. */
export const toolAnswerSchema = z.looseObject({
  content: z.array(z.looseObject({ type: z.string(), text: z.string().optional() })),
  // The value was parsed from JSON. Checking it deeply would cost more than the rest of a step.
  structuredContent: z.custom<JsonObject>(isObject, 'expected an object').optional(),
  isError: z.boolean().optional(),
})
type ToolAnswer = {
  readonly content: readonly { readonly type: string; readonly text?: string | undefined }[]
  readonly structuredContent?: JsonObject | undefined
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns the observation in a tool's answer: its texts, joined by newlines, and its structured content. */
export function observationOf({ content, structuredContent }: ToolAnswer): Observation {
  const texts = content.filter(({ type, text }) => type === 'text' && text !== undefined)
  return { text: texts.map(({ text }) => text).join('\n'), structured: structuredContent ?? null }
}

/** Parses a reply. Throws `reply-malformed`, so that an invalid reply is an error and never a silent zero. */
export function parseReply<S extends z.ZodType>(schema: S, reply: unknown, method: string): z.output<S> {
  const parsed = schema.safeParse(reply)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const at = issue?.path.length ? `at "${issue.path.join('.')}"` : 'as a whole'
  throw new EnvError(
    'reply-malformed',
    `The server's answer to ${method} is malformed ${at}: ${issue?.message}. It may be of another version.`,
    { cause: parsed.error },
  )
}
