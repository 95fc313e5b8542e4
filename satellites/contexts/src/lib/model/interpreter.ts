import type { JsonObject } from '@episodic/protocol'
import type { Frame, HistoryEntry, Question, Unrecognised } from './conversation-record.ts'

/**
 * Maps an utterance to the intents that it may mean. A port: rules by default, or a model.
 *
 * It decides nothing: it only scores candidates, and the router picks. Its result is checked, and a fault (a throw, a
 * timeout, invalid output) is answered with a question to the user, so it may fail freely. It has to return equal
 * interpretations for equal requests, or else set `later`: its result is then recorded with the input.
 */
export interface Interpreter {
  readonly name: string
  /** Whether it may return a promise: an environment then asks it before the step, and records its result. */
  readonly later?: true
  /** The intents that it is written for: a conversation without one of them is rejected. Default: the request's. */
  readonly intents?: readonly string[]
  interpret(request: InterpretRequest): Interpretation | Promise<Interpretation>
}

/** The request to an interpreter for one utterance. Plain JSON but for `signal`; holds no hidden data. */
export interface InterpretRequest {
  /** As it was said: not empty, of bounded length. */
  readonly text: string
  /** When it was said, in milliseconds since 1970 UTC: "tomorrow" is the day after this, not the machine's. */
  readonly now: number
  /** The active frame; `null` if nothing is open. */
  readonly active: Frame | null
  /** The open frames, the active one last. */
  readonly open: readonly Frame[]
  /** Names of the intents that the active context accepts in its present state, ignoring guards. */
  readonly accepted: readonly string[]
  /** Every intent of the conversation, including the commands. */
  readonly intents: readonly IntentInfo[]
  /** Earlier inputs and replies, oldest first, for "and the day after?". Bounded. */
  readonly history: readonly HistoryEntry[]
  /** The summary that `summarise` returned for entries dropped from the history; empty at first. */
  readonly summary: string
  /** The choice that the user was asked to make, if any. The conversation itself understands "the first". */
  readonly question: Question | null
  /** Aborted when the answer would come too late or is not needed any more. */
  readonly signal: AbortSignal
}

export interface IntentInfo {
  readonly name: string
  /** From `.describe(…)` on its schema, otherwise its name in words. */
  readonly description: string
  readonly slots: JsonObject
  /** The contexts that declare it; empty for a command. */
  readonly contexts: readonly string[]
}

/** The meanings that an utterance may have, in any order. No candidates: not understood. */
export interface Interpretation {
  readonly candidates: readonly IntentCandidate[]
}

export interface IntentCandidate {
  /** The name of an intent. A candidate with an unknown intent is not routed. */
  readonly intent: string
  /** How likely it is meant, from 0 to 1. */
  readonly score: number
  /** The values that were said, by slot. A candidate whose slots its schema rejects is not routed. */
  readonly slots: JsonObject
  /** Phrases for its slots that are no valid values, such as a city without an airport: not in `slots`. */
  readonly unrecognised?: readonly Unrecognised[] | undefined
}
