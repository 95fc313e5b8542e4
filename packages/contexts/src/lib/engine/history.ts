import type { HistoryEntry, PublicConversation } from '../model/conversation-record.ts'
import type { ConversationRules } from '../model/conversation-rules.ts'
import { failed } from '../model/failed.ts'

/** The part of a record that remembers. */
export type Past = Pick<PublicConversation, 'history' | 'summary'>

/** Adds an entry to the history, drops as many of the oldest as the bounds want, and puts those into the summary. */
export function remember({ name, bounds, summarise }: ConversationRules, past: Past, entry: HistoryEntry): Past {
  const entries = [...past.history, entry]
  let first = Math.max(0, entries.length - bounds.history.entries)
  let size = entries.slice(first).reduce((sum, each) => sum + sizeOf(each), 0)
  for (; size > bounds.history.bytes && first < entries.length; first += 1) size -= sizeOf(entries[first])
  if (first === 0) return { history: entries, summary: past.summary }
  let summary: unknown
  try {
    summary = summarise(past.summary, entries.slice(0, first))
  } catch (cause) {
    throw failed(`The summary of ${name} threw: ${cause instanceof Error ? cause.message : cause}`, { cause })
  }
  if (typeof summary !== 'string') throw failed(`The summary of ${name} is ${typeof summary}, and has to be a text`)
  return { history: entries.slice(first), summary: summary.slice(0, bounds.summary).toWellFormed() }
}

/** What an entry holds that may grow: asked of every entry at every turn, so nothing is written out that need not be. */
function sizeOf(entry: HistoryEntry | undefined): number {
  if (!entry) return 0
  const { text, slots, replies } = entry
  return replies.reduce((sum, reply) => sum + reply.length, text.length + JSON.stringify(slots).length)
}
