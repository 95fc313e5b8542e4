import { findNonJson, type JsonObject } from '@episodic/protocol'
import { formatZodError } from '@episodic/protocol/extend'
import type { z } from 'zod'
import type { ClosedFrame, ConversationRecord, HistoryEntry } from '../model/conversation-record.ts'
import type { ConversationRules } from '../model/conversation-rules.ts'
import { failed } from '../model/failed.ts'
import type { Shared } from '../model/machine.ts'
import type { TurnResult } from '../model/turn-result.ts'
import { remember } from './history.ts'
import { headOf, type OpenFrame, type Turn } from './turn.ts'

/** What there is to remember of an input. */
export type Remembered = Omit<HistoryEntry, 'turn' | 'now' | 'replies'>

/** Ends the taking of an input: the next record, checked. */
export function endTurn(turn: Turn, entry: Remembered, eventId: string | null = null): TurnResult {
  const { rules, record, replies, transitions, revealed } = turn
  const { bounds } = rules
  const before = record.public
  const hidden: Record<string, JsonObject> = {}
  const stack = turn.stack.map((frame) => {
    if (frame.context.hidden) hidden[frame.id] = checkedPart(frame, 'hidden')
    return frame.kept ?? { ...headOf(frame), data: checkedPart(frame, 'data') }
  })
  const shared = turn.shared && rules.shared ? checkShared(rules.shared, turn.shared) : null
  const past = remember(rules, before, {
    ...entry,
    turn: before.turn + 1,
    now: turn.now,
    replies: replies.map(({ text }) => text),
  })
  const next: ConversationRecord = {
    public: {
      turn: before.turn + 1,
      stack,
      closed: lastOf([...before.closed, ...turn.closed], bounds.closed),
      question: turn.question,
      ...past,
      path: lastOf([...before.path, ...transitions], bounds.path),
      shared: shared?.public ?? before.shared,
      ended: turn.ended,
      nextFrame: turn.nextFrame,
    },
    private: {
      hidden,
      shared: shared?.private ?? record.private.shared,
      events: eventId === null ? record.private.events : lastOf([...record.private.events, eventId], bounds.events),
    },
  }
  return { record: next, replies, transitions, revealed, intent: entry.intent, refused: null, duplicate: false }
}

/** A frame that is over, its data checked. */
export function closeFrame(frame: OpenFrame, how: ClosedFrame['how'], result: JsonObject | null): ClosedFrame {
  return { ...headOf(frame), data: checkedPart(frame, 'data'), how, result }
}

function checkedPart(frame: OpenFrame, part: 'data' | 'hidden'): JsonObject {
  const schema = part === 'data' ? frame.context.data : frame.context.hidden
  if (!frame.drafted || !schema) return frame[part]
  return checkJson(schema, frame[part], `${frame.context.name} left wrong ${part === 'data' ? 'data' : 'hidden data'}`)
}

function checkShared(
  schemas: NonNullable<ConversationRules['shared']>,
  { public: open, private: hidden }: Shared,
): Shared {
  return {
    public: checkJson(schemas.public, open, 'The shared data are wrong'),
    private: checkJson(schemas.private, hidden, 'The hidden shared data are wrong'),
  }
}

/** What the schema makes of a value. Throws `handler-failed` where it is refused, or no JSON. */
function checkJson(schema: z.ZodType, value: unknown, complaint: string): JsonObject {
  const parsed = schema.safeParse(value)
  const problem = parsed.success ? findNonJson(parsed.data) : formatZodError(parsed.error)
  if (problem) throw failed(`${complaint}: ${problem}`)
  return parsed.data as JsonObject
}

function lastOf<T>(items: readonly T[], count: number): readonly T[] {
  return items.length <= count ? items : items.slice(items.length - count)
}
