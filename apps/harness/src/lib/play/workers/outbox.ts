import { afterThisTurn } from '@episodic/protocol/internal'

/** Messages to another process that are sent together at the end of a turn of the event loop. */
export interface Outbox<Message> {
  add(message: Message): void
  /** Sends what waits now. */
  flush(): void
}

/** Creates an empty outbox. A message of its own for each episode would cost both processes more than what is in it. */
export function createOutbox<Message>(send: (messages: readonly Message[]) => void): Outbox<Message> {
  let waiting: Message[] = []
  const flush = () => {
    const messages = waiting
    waiting = []
    if (messages.length > 0) send(messages)
  }
  return {
    add(message) {
      if (waiting.push(message) === 1) afterThisTurn(flush)
    },
    flush,
  }
}
