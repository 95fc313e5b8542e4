import type { FallbackReason } from '../model/conversation.ts'
import { failed } from '../model/failed.ts'
import { say } from './moment.ts'
import { activeFrame, headOf, type Turn } from './turn.ts'

/** Says what the conversation itself has to say. Throws `handler-failed` for what its code throws. */
export function sayFallback(turn: Turn, reason: FallbackReason): void {
  const { rules, record } = turn
  const frame = activeFrame(turn)
  const active = frame ? { ...headOf(frame), data: frame.data } : null
  let text: string
  try {
    text = rules.fallback(reason, { active, history: record.public.history })
  } catch (cause) {
    throw failed(`The fallback of ${rules.name} threw: ${cause instanceof Error ? cause.message : cause}`, { cause })
  }
  if (text) say(turn, text, null)
}
