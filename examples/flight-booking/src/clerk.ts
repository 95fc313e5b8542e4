import type { HistoryEntry, IntentCandidate, Interpretation } from '@episodic/contexts'
import { definePolicy } from '@episodic/env'
import { TODAY } from './goal.ts'
import { interpreter } from './rules.ts'

/**
 * Plays the assistant: interprets the traveller's words with the conversation's own rules, calls the tool of the
 * intent, and replies with the tool's answer. It knows only what the tools return.
 */
export const clerk = definePolicy({
  name: 'clerk',
  start() {
    const history: HistoryEntry[] = []
    return ({ structured }, { last }) => {
      const { said, replies = [], dialogue } = (structured ?? {}) as AssistantView
      const words = last === null ? dialogue?.at(-1)?.text : said
      const reply = (text: string) => ({ tool: 'reply', arguments: { text } })
      if (words === undefined) return reply(last?.info.refused ? NOT_UNDERSTOOD : replies.join(' ') || 'Done.')
      const meant = understand(words, history)
      if (!meant) return reply(NOT_UNDERSTOOD)
      history.push(entryOf(meant, words, history.length))
      return { tool: meant.intent, arguments: meant.slots }
    }
  },
})

const NOT_UNDERSTOOD = 'I am sorry, I did not understand that.'

/** The assistant's observation: the dialogue at first, then the traveller's words or a tool's replies. */
interface AssistantView {
  readonly dialogue?: readonly { readonly text: string }[]
  readonly said?: string
  readonly replies?: readonly string[]
}

/** Returns the best candidate; `undefined` if there is none. */
function understand(text: string, history: readonly HistoryEntry[]): IntentCandidate | undefined {
  const nothing = { active: null, open: [], accepted: [], intents: [], summary: '', question: null }
  const { signal } = new AbortController()
  // Rules are synchronous.
  const { candidates } = interpreter.interpret({ text, now: TODAY, history, signal, ...nothing }) as Interpretation
  return candidates[0]
}

/** Returns the history entry of an utterance, for later follow-ups. */
function entryOf({ intent, slots }: IntentCandidate, text: string, turn: number): HistoryEntry {
  return { turn, now: TODAY, kind: 'utterance', text, intent, slots, context: null, replies: [] }
}
