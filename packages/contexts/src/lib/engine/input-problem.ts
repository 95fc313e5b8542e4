import { findNonJson, jsonObjectSchema } from '@episodic/protocol'
import { formatZodError } from '@episodic/protocol/extend'
import { z } from 'zod'
import { ContextError } from '../model/context-error.ts'
import type { ConversationInput } from '../model/conversation-input.ts'
import type { ConversationRules } from '../model/conversation-rules.ts'
import { unrecognisedSchema } from '../model/unrecognised.ts'
import { writtenSchema } from '../model/write-reply.ts'

const now = z.number()
const name = z.string().max(128)

const interpreted = z.object({
  candidates: z
    .array(
      z.object({
        intent: name,
        score: z.number().min(0).max(1),
        slots: jsonObjectSchema,
        unrecognised: unrecognisedSchema.optional(),
      }),
    )
    .max(64),
  problem: z.string().nullable(),
})

const written = writtenSchema.optional()

const command = z.discriminatedUnion('name', [
  z.object({ name: z.enum(['switch', 'open']), context: name }),
  z.object({ name: z.enum(['cancel', 'back', 'end']) }),
])

/** Accepts what {@link ConversationInput} says. */
const conversationInputSchema: z.ZodType<ConversationInput> = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('utterance'), text: z.string(), interpreted, written, now }),
  z.object({ kind: z.literal('act'), intent: name, slots: jsonObjectSchema, context: name.optional(), written, now }),
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

/** Says what is wrong with an input before anybody looks at it: `input-invalid` or `text-too-long`. */
export function inputProblem({ bounds }: ConversationRules, input: ConversationInput): ContextError | null {
  // Asked first, so that nothing else is done with a text of any length.
  if (input?.kind === 'utterance' && typeof input.text === 'string' && input.text.length > bounds.text)
    return new ContextError(
      'text-too-long',
      `The text has ${input.text.length} characters, and at most ${bounds.text} are read. Say it shorter.`,
      { details: { length: input.text.length, longest: bounds.text } },
    )
  const parsed = conversationInputSchema.safeParse(input)
  const problem = parsed.success
    ? (contentProblem(parsed.data, bounds.text) ?? writtenProblem(parsed.data, bounds.replies.length))
    : formatZodError(parsed.error)
  return problem ? new ContextError('input-invalid', `This is no input of a conversation: ${problem}.`) : null
}

/** Checks that the text of a writer is no longer than a reply may be. */
function writtenProblem(input: ConversationInput, longest: number): string | null {
  const length = ('written' in input && input.written?.text?.length) || 0
  return length > longest ? `what was written has ${length} characters, and at most ${longest} are allowed` : null
}

/** What came with an input is plain JSON, and no longer than a text may be. */
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
