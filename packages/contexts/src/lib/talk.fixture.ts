import type { Advanced } from './advanced.ts'
import type { Conversation } from './conversation.ts'
import type { ConversationInput, EventAddress } from './conversation-input.ts'
import type { ConversationRecord } from './conversation-record.ts'
import { travel } from './travel.fixture.ts'

/** A conversation with somebody who keeps its record. */
export interface Talk {
  readonly started: Advanced
  readonly record: ConversationRecord
  /** The contexts that are open, the active one last. */
  open(): string[]
  take(input: ConversationInput): Advanced
  say(text: string): Advanced
}

/** Keeps the record of a conversation from one input to the next. */
export function talkTo(conversation: Conversation): Talk {
  const started = conversation.start()
  let { record } = started
  const take = (input: ConversationInput): Advanced => {
    const advanced = conversation.advance(record, input)
    record = advanced.record
    return advanced
  }
  return {
    started,
    get record() {
      return record
    },
    open: () => record.public.stack.map(({ context }) => context),
    take,
    say: (text: string) =>
      take({ kind: 'utterance', text, interpreted: conversation.interpretNow(record, text, { now: 0 }), now: 0 }),
  }
}

/** An event of the fixture. */
export function priceChanged(id: string, to: EventAddress, price = 80): ConversationInput {
  return travel.event('price-changed', { price }, { id, to, now: 0 })
}
