import type { HistoryEntry, IntentCandidate, Interpretation } from '@episodic/contexts'
import { definePolicy } from '@episodic/env'
import { TODAY } from './goal.ts'
import { interpreter } from './rules.ts'

/**
 * Plays the assistant: reads the traveller by the rules of the conversation itself, does what they ask for, and tells them what
 * came of it. It knows only what the tools answer.
 */
export const clerk = definePolicy({
  name: 'clerk',
  start() {
    const history: HistoryEntry[] = []
    return ({ structured }, { last }) => {
      const { said, replies = [], dialogue } = (structured ?? {}) as Heard
      const heard = last === null ? dialogue?.at(-1)?.text : said
      const reply = (text: string) => ({ tool: 'reply', arguments: { text } })
      if (heard === undefined) return reply(last?.info.refused ? NOT_UNDERSTOOD : replies.join(' ') || 'Done.')
      const meant = understand(heard, history)
      if (!meant) return reply(NOT_UNDERSTOOD)
      history.push(entryOf(meant, heard, history.length))
      return { tool: meant.intent, arguments: meant.slots }
    }
  },
})

const NOT_UNDERSTOOD = 'I am sorry, I did not understand that.'

/** What an assistant is told: the dialogue at first, then what the traveller said, or what a tool answered. */
interface Heard {
  readonly dialogue?: readonly { readonly text: string }[]
  readonly said?: string
  readonly replies?: readonly string[]
}

/** The best that somebody may have meant; `undefined` where nothing fits. */
function understand(text: string, history: readonly HistoryEntry[]): IntentCandidate | undefined {
  const nothing = { active: null, open: [], accepted: [], intents: [], summary: '', question: null }
  const { signal } = new AbortController()
  // Rules answer at once.
  const { candidates } = interpreter.interpret({ text, now: TODAY, history, signal, ...nothing }) as Interpretation
  return candidates[0]
}

/** What it remembers of what was said, for whoever refers to it. */
function entryOf({ intent, slots }: IntentCandidate, text: string, turn: number): HistoryEntry {
  return { turn, now: TODAY, kind: 'utterance', text, intent, slots, context: null, replies: [] }
}
