import type { JsonObject } from '@episodic/protocol'
import type { Frame, HistoryEntry, Question } from './conversation-record.ts'
import type { Unrecognised } from './unrecognised.ts'

/**
 * Turns what a user said into what they may have meant. A port: rules by default, a model where one is wanted.
 *
 * It decides nothing: every candidate is only scored, and the router picks. Whatever it returns is checked, and what is
 * wrong with it (a throw, a lateness, garbage) is answered with a question to the user, so it may fail freely. With equal
 * requests an interpreter that replays by itself returns equal interpretations; one that does not, such as a model,
 * has its result recorded with the input.
 */
export interface Interpreter {
  readonly name: string
  /** Set where it may return a promise: an environment then asks it before the step, and records what it said. */
  readonly later?: true
  /** The intents that it is written for: a conversation that lacks one of them is refused. Left out, it goes by the request's. */
  readonly intents?: readonly string[]
  interpret(request: InterpretRequest): Interpretation | Promise<Interpretation>
}

/** What an interpreter is told of one utterance. Plain JSON but for `signal`; hidden data is not among it. */
export interface InterpretRequest {
  /** As it was said: not empty, of bounded length. */
  readonly text: string
  /** When it was said, in milliseconds since 1970 UTC: "tomorrow" is the day after this. Never the machine's own time. */
  readonly now: number
  /** Who is spoken to: the context on top of the stack, `null` where none is open. */
  readonly active: Frame | null
  /** Everything open, the active one last. */
  readonly open: readonly Frame[]
  /** Names of the intents that the active context accepts in its present state, before any guard is asked. */
  readonly accepted: readonly string[]
  /** Every intent of the conversation, the commands among them. */
  readonly intents: readonly IntentInfo[]
  /** What was said and done before, oldest first, for "and the day after?". Bounded. */
  readonly history: readonly HistoryEntry[]
  /** What the conversation's `summarise` made of what fell out of the history; empty at first. */
  readonly summary: string
  /** What the user was asked to choose between, where that is open. The conversation itself understands "the first". */
  readonly question: Question | null
  /** Aborted when the answer would come too late or is not wanted any more. */
  readonly signal: AbortSignal
}

/** An intent as interpreters see it. */
export interface IntentInfo {
  readonly name: string
  /** From `.describe(…)` on its schema, otherwise its name in words. */
  readonly description: string
  /** JSON Schema of its slots. */
  readonly slots: JsonObject
  /** The contexts that know it; none for a command. */
  readonly contexts: readonly string[]
}

/** What an utterance may mean, in any order. No candidate at all says: not understood. */
export interface Interpretation {
  readonly candidates: readonly IntentCandidate[]
}

export interface IntentCandidate {
  /** The name of an intent. One that nobody knows is left out of the routing. */
  readonly intent: string
  /** How likely it is meant, from 0 to 1. */
  readonly score: number
  /** What was said along with it, by slot. A candidate whose slots its schema refuses is left out of the routing. */
  readonly slots: JsonObject
  /** What was said for a slot and is no value of it, such as a city without an airport. None of these slots is in `slots`. Default: none. */
  readonly unrecognised?: readonly Unrecognised[] | undefined
}
