import type { Json, JsonObject } from '@episodic/protocol'
import { z } from 'zod'
import type { Conversation } from '../model/conversation.ts'
import { formatSlots, slotsOf } from '../model/intent-slots.ts'
import type { IntentInfo } from '../model/interpreter.ts'

/**
 * Creates the input schema of the tool `act`: an intent, and slots by name.
 *
 * `slots` is one object with every slot of the conversation, each with its JSON Schema and the intents that have it. A
 * union with one branch for each intent would be more exact, but MCP requires an object at the top, and many models and
 * clients do not support unions. The conversation checks the slots of the intent, and its refusals explain more than a
 * schema can.
 */
export function actInput({ intents, contexts }: Pick<Conversation, 'intents' | 'contexts'>) {
  const names = intents.map(({ name }) => name) as [string]
  const unknown = `There is no such intent. The intents are: ${names.join(', ')}`
  const meanings = intents.map(({ name, description }) => `${name}: ${description}`).join('; ')
  return z.object({
    intent: z
      .enum(names, { error: ({ input }) => (input === undefined ? undefined : unknown) })
      .describe(`what you want (${meanings})`),
    slots: z
      .strictObject(mergeSlots(intents), {
        error: ({ code, keys }) => (code === 'unrecognized_keys' ? unknownSlots(keys, intents) : undefined),
      })
      .default({})
      .describe('what comes with the intent; each slot says which intents take it'),
    context: z
      .enum(contexts.map(({ name }) => name) as [string])
      .optional()
      .describe('the context that is to take the intent, where several could; usually left out'),
  })
}

function unknownSlots(keys: unknown, intents: readonly IntentInfo[]): string {
  const named = (keys as readonly string[])
    .slice(0, MAX_NAMED)
    .map((key) => JSON.stringify(key.slice(0, LONGEST_NAME).toWellFormed()))
  const bySlots = Map.groupBy(intents, formatSlots)
  const known = [...bySlots].map(([slots, taking]) => `${taking.map(({ name }) => name).join(', ')}: ${slots}`)
  return `There is no slot ${named.join(', ')}. The slots are, by intent: ${known.join('; ')}`
}

const MAX_NAMED = 4
const LONGEST_NAME = 64

/** Every slot of every intent, optional, with its JSON Schema. The schema of the intent checks the values. */
function mergeSlots(intents: readonly IntentInfo[]): Record<string, z.ZodOptional> {
  const uses = intents.flatMap((intent) =>
    Object.entries(slotsOf(intent)).map(([slot, schema]) => ({ slot, schema, intent: intent.name })),
  )
  const bySlot = Map.groupBy(uses, ({ slot }) => slot)
  return Object.fromEntries([...bySlot].map(([slot, used]) => [slot, z.any().meta(mergeSchemas(used)).optional()]))
}

interface SlotUse {
  readonly schema: JsonObject
  readonly intent: string
}

function mergeSchemas(uses: readonly SlotUse[]): JsonObject {
  const byMeaning = Map.groupBy(uses, ({ schema }) => String(schema.description ?? ''))
  const description = [...byMeaning]
    .map(([meaning, same]) => `${same.map(({ intent }) => intent).join(', ')}${meaning && `: ${meaning}`}`)
    .join('; ')
  const shapes = new Map<string, JsonObject>()
  for (const { schema } of uses) {
    // A default is that of one intent, and a reference points into its own definitions.
    const { description: _, default: __, ...shape } = schema
    const said = JSON.stringify(shape)
    shapes.set(said, said.includes('"$ref"') ? {} : shape)
  }
  const [only, ...others] = shapes.values()
  const shape: JsonObject = others.length === 0 ? (only as JsonObject) : { anyOf: [...shapes.values()] as Json[] }
  return { ...shape, description }
}
