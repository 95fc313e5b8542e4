import type { PublicConversation } from '../model/conversation-record.ts'
import type { ServerPush } from './frames.ts'

/** Tells what happened to a conversation after the turn `since`, as far as it remembers. */
export function serverPushAfter(conversation: PublicConversation, since: number): ServerPush {
  const { turn, history, path, stack, closed, question, ended } = conversation
  const heard = history.filter((entry) => entry.turn > since)
  return {
    turn,
    turns: heard.map(({ now, slots, ...entry }) => ({
      ...entry,
      transitions: path.filter((transition) => transition.turn === entry.turn),
    })),
    missed: heard.length < turn - since,
    stack,
    closed,
    question,
    ended,
  }
}
