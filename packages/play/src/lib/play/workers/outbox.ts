import { afterThisTurn } from '@episodic/protocol/internal'

/**
 * Creates an empty outbox, whose messages to another process are sent together at the end of a turn of the event loop:
 * a message of its own for each episode would cost both processes more than what is in it.
 */
export function createOutbox<Message>(send: (messages: readonly Message[]) => void) {
  const waiting: Message[] = []
  const flush = () => {
    const messages = waiting.splice(0)
    if (messages.length > 0) send(messages)
  }
  return {
    add(message: Message): void {
      if (waiting.push(message) === 1) afterThisTurn(flush)
    },
    flush,
  }
}
