import type { EventAddress } from '../model/conversation-input.ts'
import type { Remembered } from './end-turn.ts'
import { readEventData } from './event-data.ts'
import { runCode } from './moment.ts'
import { assertAddress } from './play-frame.ts'
import { tell } from './stack.ts'
import type { OpenFrame, Published, Turn } from './turn.ts'

/**
 * Tells whoever an event is for, from the top of the stack down. Where nobody that is open takes it, nothing happens, and it is
 * delivered all the same. Throws `unknown-event`, `unknown-context` and `event-invalid`.
 */
export function deliver(turn: Turn, { type, data, to }: Published): Remembered {
  const event = readEventData(turn.rules, type, data)
  assertAddress(turn, to)
  let taker: string | null = null
  for (const frame of turn.stack.toReversed()) {
    // One that a frame above it closed, or that was told already, is not told.
    if (turn.ended !== null || !turn.stack.includes(frame) || !reaches(frame, to)) continue
    if (!Object.hasOwn(frame.context.events, type)) continue
    if (tell(turn, frame, type, { event: structuredClone(event) })) taker ??= frame.context.name
  }
  return { kind: 'event', text: type, intent: null, slots: {}, context: taker }
}

function reaches(frame: OpenFrame, to: EventAddress): boolean {
  if (to === 'conversation') return true
  if ('context' in to) return frame.context.name === to.context
  return runCode(frame, 'The topics', () => frame.context.machine.topics(frame.data)).includes(to.topic)
}
