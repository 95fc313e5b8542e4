import type { EventAddress } from '../model/conversation-input.ts'
import type { TurnResult } from '../model/turn-result.ts'
import { readEvent } from './check-input.ts'
import { endTurn, type InputEntry } from './next-record.ts'
import { prompt, topicsOf } from './play-frame.ts'
import { handleEvent } from './stack.ts'
import { activeFrame, followingTurn, type OpenFrame, type Published, type Turn } from './turn.ts'

/** Delivers the events that hooks published, each in a turn of its own, then adds the active context's prompt. */
export function finishInput(turn: Turn, entry: InputEntry, eventId: string | null = null): TurnResult {
  const event = turn.ended === null ? turn.published.shift() : undefined
  if (!event) {
    const active = activeFrame(turn)
    if (active?.needsPrompt && turn.ended === null && !turn.question) prompt(turn, active)
    return endTurn(turn, entry, eventId)
  }
  const before = endTurn(turn, entry, eventId)
  const next = followingTurn(turn, before.record)
  const after = finishInput(next, deliver(next, event))
  return {
    ...before,
    record: after.record,
    replies: [...before.replies, ...after.replies],
    transitions: [...before.transitions, ...after.transitions],
    revealed: [...before.revealed, ...after.revealed],
  }
}

/** Delivers an event to the frames at its address, from the top down. It counts also if no frame handles it. */
export function deliver(turn: Turn, published: Published): InputEntry {
  const { type, to } = published
  const event = readEvent(turn.rules, published)
  let context: string | null = null
  for (const frame of turn.stack.toReversed()) {
    // A frame above may have closed this one, or ended the conversation.
    if (turn.ended !== null || !turn.stack.includes(frame) || !reaches(frame, to)) continue
    if (!Object.hasOwn(frame.context.events, type)) continue
    if (handleEvent(turn, frame, type, { event: structuredClone(event) })) context ??= frame.context.name
  }
  return { kind: 'event', text: type, intent: null, slots: {}, context }
}

function reaches(frame: OpenFrame, to: EventAddress): boolean {
  if (to === 'conversation') return true
  if ('context' in to) return frame.context.name === to.context
  return topicsOf(frame).includes(to.topic)
}
