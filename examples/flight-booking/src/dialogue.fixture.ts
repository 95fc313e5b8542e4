import type { ConversationInput, ConversationRecord, TurnResult } from '@episodic/contexts'
import { booking } from './booking.ts'
import { conversation } from './conversation.ts'
import { TODAY } from './goal.ts'

/** A conversation with a user who speaks line by line. */
export interface Dialogue {
  readonly record: ConversationRecord
  /** Says something, and returns the result. */
  say(text: string): TurnResult
  take(input: ConversationInput): TurnResult
  /** The booking that is open. */
  readonly booking: NonNullable<ReturnType<typeof booking.find>>
  /** What is open, as `context:state`, oldest first. */
  readonly open: readonly string[]
}

/** Starts a conversation on Monday, 5 January 2026. */
export function startDialogue(trouble: 'none' | 'price-changed' | 'sold-out' = 'none'): Dialogue {
  const nothing = { from: null, to: null, date: null, cabin: null }
  let { record } = conversation.start({ now: TODAY, shared: { public: nothing, private: { trouble } } })
  const take = (input: ConversationInput): TurnResult => {
    const result = conversation.handleInput(record, input)
    // A round trip through JSON, as in a store.
    record = JSON.parse(JSON.stringify(result.record))
    return result
  }
  return {
    get record() {
      return record
    },
    say(text) {
      const interpreted = conversation.interpretNow(record, text, { now: TODAY })
      return take({ kind: 'utterance', text, interpreted, now: TODAY })
    },
    take,
    get booking() {
      return booking.find(record) as NonNullable<ReturnType<typeof booking.find>>
    },
    get open() {
      return record.public.stack.map(({ context, state }) => `${context}:${state}`)
    },
  }
}

/** The replies as one text. */
export function textOf({ replies }: TurnResult): string {
  return replies.map(({ text }) => text).join('\n')
}
