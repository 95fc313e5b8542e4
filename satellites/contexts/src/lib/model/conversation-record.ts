import type { JsonObject } from '@episodic/protocol'
import { z } from 'zod'

/**
 * A whole conversation as plain JSON: durable, replayable, and forked by copying it. Nothing edits a record in place:
 * `handleInput` returns the next one.
 *
 * Like the state of an environment it has a `public` part, which participants may see, and a `private` one, which they
 * may not.
 */
export interface ConversationRecord {
  readonly public: PublicConversation
  readonly private: PrivateConversation
}

export interface PublicConversation {
  /** Number of inputs taken, with the opening of the first context and published events; without refused ones. */
  readonly turn: number
  /** The open frames, oldest first: the last is active and the others are suspended. */
  readonly stack: readonly Frame[]
  /** Frames that were closed, oldest first. Bounded. */
  readonly closed: readonly ClosedFrame[]
  readonly question: Question | null
  /** Earlier inputs and their replies, oldest first. Bounded in number and in size. */
  readonly history: readonly HistoryEntry[]
  /** The summary that `summarise` returned for entries dropped from the history. */
  readonly summary: string
  /** The transitions so far, oldest first. Bounded. */
  readonly path: readonly ConversationTransition[]
  readonly shared: JsonObject
  readonly ended: string | null
  readonly nextFrame: number
}

export interface PrivateConversation {
  /** Hidden data of the open frames that have any, by frame id. */
  readonly hidden: { readonly [frame: string]: JsonObject }
  readonly shared: JsonObject
  /** Ids of the delivered events, oldest first. Bounded. */
  readonly events: readonly string[]
}

/** One opening of a context. The same context may be open more than once. */
export interface Frame {
  /** Unique within the conversation, counted from 1. */
  readonly id: number
  readonly context: string
  readonly state: string
  readonly data: JsonObject
}

/** A closed frame: `finished` reached a final state, `cancelled` was cancelled by the user. */
export interface ClosedFrame extends Frame {
  readonly how: 'finished' | 'cancelled'
  readonly result: JsonObject | null
}

export interface Question {
  readonly options: readonly QuestionOption[]
}

export interface QuestionOption {
  readonly label: string
  readonly intent: string
  readonly slots: JsonObject
  /** The context that would handle it; `null` for a command. */
  readonly context: string | null
  /** The frame that would handle it; `null` if one would be opened. */
  readonly frame: number | null
  /** Phrases for its slots that are not valid values. Default: none. */
  readonly unrecognised?: readonly Unrecognised[] | undefined
}

/** A phrase that a user said for a slot, and that is not a valid value of it. */
export interface Unrecognised {
  readonly slot: string
  readonly text: string
}

export const unrecognisedSchema: z.ZodType<readonly Unrecognised[]> = z
  .array(z.object({ slot: z.string().min(1).max(128), text: z.string().min(1).max(200) }))
  .max(16)

export interface HistoryEntry {
  readonly turn: number
  /** The time of the input, in milliseconds since 1970 UTC. */
  readonly now: number
  readonly kind: 'utterance' | 'act' | 'command' | 'event'
  /** What the user said; for other inputs the name of the intent, command or event. */
  readonly text: string
  readonly intent: string | null
  readonly slots: JsonObject
  readonly context: string | null
  readonly replies: readonly string[]
}

export interface ConversationTransition {
  readonly turn: number
  /**
   * - `opened`: a context was opened; `to` is its first state.
   * - `moved`: it went to another state, or left and entered the same one.
   * - `suspended`, `resumed`: another context came over it; it is active again.
   * - `finished`, `cancelled`: it closed.
   */
  readonly kind: 'opened' | 'moved' | 'suspended' | 'resumed' | 'finished' | 'cancelled'
  readonly frame: number
  readonly context: string
  readonly from: string | null
  readonly to: string | null
  /** The intent, event or command that caused it; `null` for one without an input. */
  readonly on: string | null
}
