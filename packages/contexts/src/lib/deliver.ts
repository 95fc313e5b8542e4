import type { JsonObject } from '@episodic/protocol'
import { ContextError } from './context-error.ts'
import type { ConversationInput, EventAddress } from './conversation-input.ts'
import type { Remembered } from './end-turn.ts'
import { explain } from './explain.ts'
import { runCode } from './moment.ts'
import { unknownContext } from './play-frame.ts'
import { shortened } from './shortened.ts'
import { tell } from './stack.ts'
import type { OpenFrame, Turn } from './turn.ts'

/**
 * Tells whoever an event is for, from the top of the stack down. Where nobody that is open takes it, nothing happens, and it is
 * delivered all the same. Throws `unknown-event`, `unknown-context` and `event-invalid`.
 */
export function deliver(turn: Turn, { type, data, to }: Extract<ConversationInput, { kind: 'event' }>): Remembered {
  const schema = turn.rules.events.get(type)
  if (!schema)
    throw new ContextError(
      'unknown-event',
      `No context hears of an event "${shortened(type)}". The events are: ${[...turn.rules.events.keys()].join(', ') || 'none'}.`,
    )
  if (typeof to === 'object' && 'context' in to && !turn.rules.contexts.has(to.context))
    throw unknownContext(turn, to.context)
  const parsed = schema.safeParse(data)
  if (!parsed.success)
    throw new ContextError('event-invalid', `The data of ${type} are wrong: ${explain(parsed.error)}.`)
  let taker: string | null = null
  for (const frame of turn.stack.toReversed()) {
    // One that a frame above it closed, or that was told already, is not told.
    if (turn.ended !== null || !turn.stack.includes(frame) || !reaches(frame, to)) continue
    if (!Object.hasOwn(frame.context.events, type)) continue
    if (tell(turn, frame, type, { event: structuredClone(parsed.data) as JsonObject })) taker ??= frame.context.name
  }
  return { kind: 'event', text: type, intent: null, slots: {}, context: taker }
}

function reaches(frame: OpenFrame, to: EventAddress): boolean {
  if (to === 'conversation') return true
  if ('context' in to) return frame.context.name === to.context
  return runCode(frame, 'The topics', () => frame.context.machine.topics(frame.data)).includes(to.topic)
}
