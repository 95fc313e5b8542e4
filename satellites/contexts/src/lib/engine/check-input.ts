import { findNonJson, type JsonObject, jsonObjectSchema } from '@episodic/protocol'
import { formatZodError, shorten } from '@episodic/protocol/internal'
import { z } from 'zod'
import { ContextError } from '../model/context-error.ts'
import type { ConversationInput, EventAddress } from '../model/conversation-input.ts'
import { interpretedSchema } from '../model/interpret-utterance.ts'
import type { ConversationRules } from './turn.ts'

const now = z.number()
const name = z.string().max(128)

const command = z.discriminatedUnion('name', [
  z.object({ name: z.enum(['switch', 'open']), context: name }),
  z.object({ name: z.enum(['cancel', 'back', 'end']) }),
])

const conversationInputSchema: z.ZodType<ConversationInput> = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('utterance'), text: z.string(), interpreted: interpretedSchema, now }),
  z.object({ kind: z.literal('act'), intent: name, slots: jsonObjectSchema, context: name.optional(), now }),
  z.object({ kind: z.literal('command'), command, now }),
  z.object({
    kind: z.literal('event'),
    id: name.min(1),
    type: name,
    data: jsonObjectSchema,
    to: z.union([z.literal('conversation'), z.object({ context: name }), z.object({ topic: name })]),
    now,
  }),
]) as z.ZodType<ConversationInput>

export function inputProblem({ bounds }: ConversationRules, input: ConversationInput): ContextError | null {
  // First, so that a text of any length costs nothing else.
  if (input?.kind === 'utterance' && typeof input.text === 'string' && input.text.length > bounds.text)
    return new ContextError(
      'text-too-long',
      `The text has ${input.text.length} characters, and at most ${bounds.text} are read. Say it shorter.`,
      { details: { length: input.text.length, longest: bounds.text } },
    )
  const parsed = conversationInputSchema.safeParse(input)
  const problem = parsed.success ? contentProblem(parsed.data, bounds.text) : formatZodError(parsed.error)
  return problem ? new ContextError('input-invalid', `This is no input of a conversation: ${problem}.`) : null
}

function contentProblem(input: ConversationInput, longest: number): string | null {
  if (input.kind === 'command') return null
  const [what, content] =
    input.kind === 'event'
      ? (['data', input.data] as const)
      : input.kind === 'act'
        ? (['slots', input.slots] as const)
        : (['candidates', input.interpreted.candidates.map(({ slots }) => slots)] as const)
  const problem = findNonJson(content, what)
  if (problem || input.kind === 'utterance') return problem
  const { length } = JSON.stringify(content)
  return length > longest ? `its ${what} have ${length} characters of JSON, and at most ${longest} are read` : null
}

export function readEvent(
  rules: ConversationRules,
  { type, data, to }: { readonly type: string; readonly data: JsonObject; readonly to: EventAddress },
): JsonObject {
  const schema = rules.events.get(type)
  if (!schema)
    throw new ContextError(
      'unknown-event',
      `No context handles an event "${shorten(type)}". The events are: ${[...rules.events.keys()].join(', ') || 'none'}.`,
    )
  const parsed = schema.safeParse(data)
  if (!parsed.success)
    throw new ContextError('event-invalid', `The data of ${type} are wrong: ${formatZodError(parsed.error)}.`)
  if (typeof to === 'object' && 'context' in to && !rules.contexts.has(to.context))
    throw unknownContext(rules, to.context)
  return parsed.data as JsonObject
}

export function unknownContext({ contexts }: ConversationRules, context: string): ContextError {
  return new ContextError(
    'unknown-context',
    `There is no context "${shorten(context)}". The contexts are: ${[...contexts.keys()].join(', ')}.`,
  )
}
