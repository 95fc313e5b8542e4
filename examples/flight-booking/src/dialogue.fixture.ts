import type { ConversationInput, ConversationRecord, TurnResult } from '@episodic/contexts'
import { booking } from './booking.ts'
import { conversation } from './conversation.ts'
import { TODAY } from './goal.ts'

/** A conversation that is spoken to, line by line. */
export interface Dialogue {
  readonly record: ConversationRecord
  /** Says something, and gives what is answered. */
  say(text: string): TurnResult
  take(input: ConversationInput): TurnResult
  /** The booking that is open. */
  readonly booking: NonNullable<ReturnType<typeof booking.find>>
  /** What is open, as `context:state`, oldest first. */
  readonly open: readonly string[]
}

/** Begins a conversation on Monday, 5 January 2026. */
export function beginDialogue(trouble: 'none' | 'price-changed' | 'sold-out' = 'none'): Dialogue {
  const nothing = { from: null, to: null, date: null, cabin: null }
  let { record } = conversation.start({ now: TODAY, shared: { public: nothing, private: { trouble } } })
  const take = (input: ConversationInput): TurnResult => {
    const result = conversation.handleInput(record, input)
    // A record is what is stored between two inputs, so it is one that was read back.
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

/** What is told, in one text. */
export function told({ replies }: TurnResult): string {
  return replies.map(({ text }) => text).join('\n')
}
