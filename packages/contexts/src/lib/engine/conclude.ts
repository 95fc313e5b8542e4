import type { TurnResult } from '../model/turn-result.ts'
import { deliver } from './deliver.ts'
import { endTurn, type Remembered } from './end-turn.ts'
import { prompt } from './play-frame.ts'
import { activeFrame, followingTurn, type Turn } from './turn.ts'

/**
 * Ends the taking of an input: delivers what its hooks published, each as a turn that follows it at once, and lets the
 * active context ask what it has to. A conversation that is over by then is told of nothing more.
 */
export function conclude(turn: Turn, remembered: Remembered, eventId: string | null = null): TurnResult {
  const event = turn.ended === null ? turn.published.shift() : undefined
  if (!event) {
    const active = activeFrame(turn)
    if (active?.needsPrompt && turn.ended === null && !turn.question) prompt(turn, active)
    if (turn.written !== null) tellWritten(turn, turn.written)
    return endTurn(turn, remembered, eventId)
  }
  // The text of a writer is sent once, in place of all replies that the input caused.
  if (turn.written !== null) turn.replies.length = 0
  const before = endTurn(turn, remembered, eventId)
  const next = followingTurn(turn, before.record)
  const after = conclude(next, deliver(next, event))
  return {
    ...before,
    record: after.record,
    replies: [...before.replies, ...after.replies],
    transitions: [...before.transitions, ...after.transitions],
    revealed: [...before.revealed, ...after.revealed],
  }
}

/** Tells the user what a writer wrote, in place of the replies. */
function tellWritten({ replies }: Turn, text: string): void {
  const { context = null, frame = null } = replies.at(-1) ?? {}
  replies.splice(0, replies.length, { text, context, frame })
}
