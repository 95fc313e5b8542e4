import { handlerFailed, handlerThrew } from '../model/context-error.ts'
import type { FallbackReason } from '../model/conversation.ts'
import { activeFrame, headOf, type OpenFrame, type Turn } from './turn.ts'

export function say(turn: Turn, text: string, frame: OpenFrame | null): void {
  const { count, length } = turn.rules.bounds.replies
  const who = frame ? frame.context.name : turn.rules.name
  if (typeof text !== 'string') throw handlerFailed(`${who} said ${typeof text}, and what is said is a text`)
  if (text.length > length)
    throw handlerFailed(`${who} said ${text.length} characters at once, and at most ${length} are sent`)
  if (turn.replies.length >= count) throw handlerFailed(`${who} said more than ${count} things in one turn`)
  turn.replies.push({ text: text.toWellFormed(), context: frame?.context.name ?? null, frame: frame?.id ?? null })
}

export function sayFallback(turn: Turn, reason: FallbackReason): void {
  const { rules, record } = turn
  const frame = activeFrame(turn)
  const active = frame ? { ...headOf(frame), data: frame.data } : null
  let text: string
  try {
    text = rules.fallback(reason, { active, history: record.public.history })
  } catch (cause) {
    throw handlerThrew(`The fallback of ${rules.name}`, cause)
  }
  if (text) say(turn, text, null)
}
