import type { JsonObject } from '@episodic/protocol'
import { formatZodError, shorten } from '@episodic/protocol/extend'
import { ContextError } from '../model/context-error.ts'
import type { ConversationRules } from '../model/conversation-rules.ts'

/** What an event's schema makes of its data. Throws `unknown-event` and `event-invalid`. */
export function readEventData({ events }: ConversationRules, type: string, data: JsonObject): JsonObject {
  const schema = events.get(type)
  if (!schema)
    throw new ContextError(
      'unknown-event',
      `No context hears of an event "${shorten(type)}". The events are: ${[...events.keys()].join(', ') || 'none'}.`,
    )
  const parsed = schema.safeParse(data)
  if (!parsed.success)
    throw new ContextError('event-invalid', `The data of ${type} are wrong: ${formatZodError(parsed.error)}.`)
  return parsed.data as JsonObject
}
