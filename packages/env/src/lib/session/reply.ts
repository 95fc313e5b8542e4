import type { Channel, JsonObject, Observation } from '@episodic/protocol'
import { isTyped, parsedObjectSchema } from '@episodic/protocol/extend'
import { z } from 'zod'
import { EnvError } from '../env-error.ts'

/** The part of a `tools/call` result that is read here. */
export const toolAnswerSchema = z.looseObject({
  content: z.array(z.looseObject({ type: z.string(), text: z.string().optional() })),
  structuredContent: parsedObjectSchema.optional(),
  isError: z.boolean().optional(),
})
type ToolAnswer = {
  readonly content: readonly { readonly type: string; readonly text?: string | undefined }[]
  readonly structuredContent?: JsonObject | undefined
}

/** Returns the observation in a tool's answer: its texts, joined by newlines, and its structured content. */
export function observationOf({ content, structuredContent }: ToolAnswer): Observation {
  const [first] = content
  // Nearly every answer is one text.
  if (content.length === 1 && first?.type === 'text' && first.text !== undefined)
    return { text: first.text, structured: structuredContent ?? null }
  const texts = content.filter(({ type, text }) => type === 'text' && text !== undefined)
  return { text: texts.map(({ text }) => text).join('\n'), structured: structuredContent ?? null }
}

/**
 * Reads the reply of a channel: as it is from a channel whose results are typed already, and otherwise parsed, as by
 * {@link parseReply}.
 */
export function readReply<S extends z.ZodType>(
  channel: Channel,
  schema: S,
  reply: unknown,
  method: string,
): z.output<S> {
  return isTyped(channel) ? (reply as z.output<S>) : parseReply(schema, reply, method)
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
