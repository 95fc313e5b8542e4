import { findNonJson, type JsonObject } from '@episodic/protocol'
import { formatZodError } from '@episodic/protocol/internal'
import type { z } from 'zod'
import { handlerFailed, handlerThrew } from '../model/context-error.ts'
import type { ClosedFrame, ConversationRecord, HistoryEntry, PublicConversation } from '../model/conversation-record.ts'
import type { Shared } from '../model/machine.ts'
import type { TurnResult } from '../model/turn-result.ts'
import { type ConversationRules, headOf, type OpenFrame, type Turn } from './turn.ts'

export type InputEntry = Omit<HistoryEntry, 'turn' | 'now' | 'replies'>

export function endTurn(turn: Turn, entry: InputEntry, eventId: string | null = null): TurnResult {
  const { rules, record, replies, transitions, revealed } = turn
  const { bounds } = rules
  const before = record.public
  const hidden: Record<string, JsonObject> = {}
  const stack = turn.stack.map((frame) => {
    if (frame.context.hidden) hidden[frame.id] = checkedPart(frame, 'hidden')
    return frame.kept ?? { ...headOf(frame), data: checkedPart(frame, 'data') }
  })
  const shared = turn.shared && rules.shared ? checkShared(rules.shared, turn.shared) : null
  const past = addToHistory(rules, before, {
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

function checkJson(schema: z.ZodType, value: unknown, complaint: string): JsonObject {
  const parsed = schema.safeParse(value)
  const problem = parsed.success ? findNonJson(parsed.data) : formatZodError(parsed.error)
  if (problem) throw handlerFailed(`${complaint}: ${problem}`)
  return parsed.data as JsonObject
}

type Past = Pick<PublicConversation, 'history' | 'summary'>

function addToHistory({ name, bounds, summarise }: ConversationRules, past: Past, entry: HistoryEntry): Past {
  const entries = [...past.history, entry]
  let first = Math.max(0, entries.length - bounds.history.entries)
  let size = entries.slice(first).reduce((sum, each) => sum + sizeOf(each), 0)
  for (; size > bounds.history.bytes && first < entries.length; first += 1) size -= sizeOf(entries[first])
  if (first === 0) return { history: entries, summary: past.summary }
  let summary: unknown
  try {
    summary = summarise(past.summary, entries.slice(0, first))
  } catch (cause) {
    throw handlerThrew(`The summary of ${name}`, cause)
  }
  if (typeof summary !== 'string')
    throw handlerFailed(`The summary of ${name} is ${typeof summary}, and has to be a text`)
  return { history: entries.slice(first), summary: summary.slice(0, bounds.summary).toWellFormed() }
}

/** The size of an entry's unbounded parts. Cheap, because every turn asks it of every entry. */
function sizeOf(entry: HistoryEntry | undefined): number {
  if (!entry) return 0
  const { text, slots, replies } = entry
  return replies.reduce((sum, reply) => sum + reply.length, text.length + JSON.stringify(slots).length)
}

function lastOf<T>(items: readonly T[], count: number): readonly T[] {
  return items.length <= count ? items : items.slice(items.length - count)
}
