import { findNonJson, type JsonObject } from '@episodic/protocol'
import { formatZodError } from '@episodic/protocol/internal'
import { z } from 'zod'
import { COMMAND_INTENTS } from '../engine/commands.ts'
import { acceptedBy } from '../engine/find-routes.ts'
import { handleInput } from '../engine/handle-input.ts'
import { startConversation } from '../engine/start-conversation.ts'
import type { ConversationRules } from '../engine/turn.ts'
import type { Context, SharedSchemas } from '../model/context.ts'
import { ContextError } from '../model/context-error.ts'
import type { Conversation, ConversationBounds, ConversationDefinition } from '../model/conversation.ts'
import type { ConversationRecord } from '../model/conversation-record.ts'
import { type Interpreted, interpretAtOnce, interpretUtterance } from '../model/interpret-utterance.ts'
import type { IntentInfo, InterpretRequest } from '../model/interpreter.ts'
import type { Shared as MachineShared } from '../model/machine.ts'
import { createRouter } from '../model/router.ts'
import { assertKnown } from './assert-known.ts'
import { plainFallback } from './plain-fallback.ts'
import { recordSchemas } from './record-schemas.ts'

const DEFAULT_BOUNDS: ConversationBounds = {
  depth: 8,
  text: 4_000,
  history: { entries: 50, bytes: 32_768 },
  summary: 2_000,
  closed: 16,
  path: 64,
  events: 256,
  replies: { count: 16, length: 4_000 },
}

const PARTS: readonly (keyof ConversationDefinition<never, undefined>)[] = [
  ...(['name', 'contexts', 'interpreter', 'router', 'shared', 'initial', 'fallback'] as const),
  ...(['summarise', 'bounds'] as const),
]

/**
 * Defines a conversation: its contexts, and how utterances are interpreted and routed to them.
 *
 * Pure: nothing runs until a record is started. Throws `definition-invalid` for a definition that cannot be played.
 */
export function defineConversation<
  const Contexts extends readonly Context[],
  Shared extends SharedSchemas | undefined = undefined,
>(definition: ConversationDefinition<Contexts, Shared>): Conversation<Contexts, Shared> {
  const { name, contexts, interpreter = null, router = createRouter(), shared, initial = null } = definition
  const invalid = (why: string): ContextError =>
    new ContextError('definition-invalid', `The conversation ${name} cannot be played: ${why}.`)
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name))
    throw invalid(`its name is "${name}", and a name is lower-case words joined by hyphens, such as travel-agency`)
  assertKnown(PARTS, definition, invalid)
  assertKnown(Object.keys(DEFAULT_BOUNDS), definition.bounds, invalid)
  if (contexts.length === 0) throw invalid('it has no contexts')
  const named = new Map(contexts.map((context): [string, Context] => [context.name, context]))
  if (named.size < contexts.length) throw invalid('two of its contexts have the same name')
  if (initial !== null && !named.has(initial)) throw invalid(`its first context "${initial}" is none of its contexts`)
  for (const context of contexts)
    if (context.shared && (context.shared.public !== shared?.public || context.shared.private !== shared.private))
      throw invalid(`${context.name} has other shared schemas than the conversation; give both the same`)
  const bounds = { ...DEFAULT_BOUNDS, ...definition.bounds }
  for (const [bound, value] of Object.entries(flat(bounds)))
    if (!Number.isSafeInteger(value) || value < 1)
      throw invalid(`its bound ${bound} is ${value}, and has to be 1 or more`)

  const intents = intentInfos(contexts, invalid)
  const unknown = interpreter?.intents?.filter((intent) => intents.every((known) => known.name !== intent)) ?? []
  if (unknown.length > 0)
    throw invalid(
      `its interpreter ${interpreter?.name} is written for ${unknown.join(', ')}, and its intents are ${intents.map((known) => known.name).join(', ')}`,
    )
  const rules: ConversationRules = {
    name,
    contexts: named,
    initial,
    router,
    shared: shared ?? null,
    bounds,
    events: eventSchemas(contexts, invalid),
    intents: new Map(intents.map((intent) => [intent.name, intent])),
    fallback: definition.fallback ?? plainFallback(contexts),
    summarise: definition.summarise ?? ((summary) => summary),
  }
  const schemas = recordSchemas(rules)
  const recordSchema = z.object(schemas)

  const requestFor = (
    { public: { stack, history, summary, question } }: ConversationRecord,
    text: string,
    now: number,
  ): Omit<InterpretRequest, 'signal'> => {
    const active = stack.at(-1) ?? null
    const context = active && named.get(active.context)
    const accepted = active && context ? acceptedBy({ context, state: active.state }) : []
    return { text, now, active, open: stack, accepted, intents, history, summary, question }
  }
  const noInterpreter: Interpreted = { candidates: [], problem: `The conversation ${name} has no interpreter.` }
  const noText: Interpreted = { candidates: [], problem: null }
  /** Whether a text has words to interpret; `handleInput` refuses one that is too long. */
  const hasText = (text: string): boolean => text.trim() !== '' && text.length <= bounds.text
  const conversation: Conversation<Contexts, Shared> = {
    name,
    contexts,
    interpreter,
    router,
    shared: shared as Shared,
    bounds,
    intents,
    schemas,
    start: ({ shared: given, now = 0 } = {}) =>
      startConversation(rules, given as Partial<MachineShared> | undefined, now),
    async interpret(record, text, { now, ...options }) {
      if (!interpreter) return noInterpreter
      return hasText(text) ? interpretUtterance(interpreter, requestFor(record, text, now), options) : noText
    },
    interpretNow(record, text, { now }) {
      if (!interpreter) return noInterpreter
      return hasText(text) ? interpretAtOnce(interpreter, requestFor(record, text, now)) : noText
    },
    handleInput: (record, input) => handleInput(rules, record, input),
    act: (intent, slots, { now, context }) => ({
      kind: 'act',
      intent,
      slots: slots as JsonObject,
      ...(context !== undefined && { context }),
      now,
    }),
    event: (type, data, { id, to, now }) => ({ kind: 'event', id, type, data: data as JsonObject, to, now }),
    sharedOf: ({ public: { shared: open }, private: { shared: hidden } }) =>
      (shared ? { public: open, private: hidden } : undefined) as never,
    parse(value) {
      const parsed = recordSchema.safeParse(value)
      const problem = parsed.success ? findNonJson(parsed.data) : formatZodError(parsed.error)
      if (problem) throw new ContextError('record-invalid', `This is no record of ${name}: ${problem}.`)
      return parsed.data as unknown as ConversationRecord
    },
  }
  return Object.freeze(conversation)
}

function flat({ history, replies, ...bounds }: ConversationBounds): { [bound: string]: number } {
  return {
    ...bounds,
    'history.entries': history.entries,
    'history.bytes': history.bytes,
    'replies.count': replies.count,
    'replies.length': replies.length,
  }
}

/** Contexts may share an intent if its slots are the same. */
function intentInfos(contexts: readonly Context[], invalid: (why: string) => ContextError): IntentInfo[] {
  const infos = new Map<string, IntentInfo>()
  for (const context of contexts)
    for (const [name, schema] of Object.entries(context.intents)) {
      const slots = slotsSchema(name, schema, invalid)
      const info = infos.get(name)
      if (info && JSON.stringify(info.slots) !== JSON.stringify(slots))
        throw invalid(`${info.contexts.join(', ')} and ${context.name} mean different slots by the intent ${name}`)
      const description = schema.description ?? name.replaceAll(/[-_.]+/g, ' ')
      infos.set(
        name,
        info
          ? { ...info, contexts: [...info.contexts, context.name] }
          : { name, description, slots, contexts: [context.name] },
      )
    }
  const spoken = COMMAND_INTENTS.filter(({ name }) => !infos.has(name))
  return [...infos.values(), ...spoken]
}

function slotsSchema(name: string, schema: z.ZodType, invalid: (why: string) => ContextError): JsonObject {
  let slots: JsonObject
  try {
    slots = z.toJSONSchema(schema, { io: 'input' }) as JsonObject
  } catch (cause) {
    throw invalid(`JSON Schema cannot describe the slots of ${name}: ${(cause as Error).message}`)
  }
  if (slots.type !== 'object') throw invalid(`the slots of ${name} have to be an object schema`)
  return slots
}

function eventSchemas(
  contexts: readonly Context[],
  invalid: (why: string) => ContextError,
): ReadonlyMap<string, z.ZodType> {
  const events = new Map<string, z.ZodType>()
  for (const context of contexts)
    for (const [name, schema] of Object.entries(context.events)) {
      const known = events.get(name)
      if (
        known &&
        known !== schema &&
        JSON.stringify(slotsSchema(name, known, invalid)) !== JSON.stringify(slotsSchema(name, schema, invalid))
      )
        throw invalid(`two of its contexts mean different data by the event ${name}`)
      events.set(name, schema)
    }
  return events
}
