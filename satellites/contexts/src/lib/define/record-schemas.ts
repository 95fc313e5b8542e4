import { jsonObjectSchema } from '@episodic/protocol'
import { z } from 'zod'
import type { ConversationRules } from '../engine/turn.ts'
import type { Context } from '../model/context.ts'
import { unrecognisedSchema } from '../model/conversation-record.ts'

export function recordSchemas({ contexts, shared }: ConversationRules): {
  readonly public: z.ZodObject
  readonly private: z.ZodObject
} {
  const frames = [...contexts.values()].map(frameSchema)
  const closed = frames.map((frame) =>
    frame.extend({ how: z.enum(['finished', 'cancelled']), result: jsonObjectSchema.nullable() }),
  )
  return {
    public: z.object({
      turn: z.int().min(0),
      stack: z.array(z.discriminatedUnion('context', frames as [(typeof frames)[0]])),
      closed: z.array(z.discriminatedUnion('context', closed as [(typeof closed)[0]])),
      question: z.object({ options: z.array(optionSchema) }).nullable(),
      history: z.array(entrySchema),
      summary: z.string(),
      path: z.array(transitionSchema),
      shared: shared?.public ?? z.object({}),
      ended: z.string().nullable(),
      nextFrame: z.int().min(1),
    }),
    private: z.object({
      hidden: z.record(z.string(), jsonObjectSchema),
      shared: shared?.private ?? z.object({}),
      events: z.array(z.string()),
    }),
  }
}

function frameSchema({ name, states, data }: Context) {
  return z.object({ id: z.int().min(1), context: z.literal(name), state: z.enum(states as [string]), data })
}

const optionSchema = z.object({
  label: z.string(),
  intent: z.string(),
  slots: jsonObjectSchema,
  context: z.string().nullable(),
  frame: z.int().nullable(),
  unrecognised: unrecognisedSchema.optional(),
})

const entrySchema = z.object({
  turn: z.int(),
  now: z.number(),
  kind: z.enum(['utterance', 'act', 'command', 'event']),
  text: z.string(),
  intent: z.string().nullable(),
  slots: jsonObjectSchema,
  context: z.string().nullable(),
  replies: z.array(z.string()),
})

const transitionSchema = z.object({
  turn: z.int(),
  kind: z.enum(['opened', 'moved', 'suspended', 'resumed', 'finished', 'cancelled']),
  frame: z.int(),
  context: z.string(),
  from: z.string().nullable(),
  to: z.string().nullable(),
  on: z.string().nullable(),
})
