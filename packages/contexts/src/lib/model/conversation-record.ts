import type { JsonObject } from '@episodic/protocol'
import type { Unrecognised } from './unrecognised.ts'

/**
 * All that a conversation is, as plain JSON: durable, replayable, and forkable by copying it. Nothing edits one in place:
 * `handleInput` returns the next.
 *
 * Split as the state of an environment is: `public` may be shown to whoever takes part, `private` may not.
 */
export interface ConversationRecord {
  readonly public: PublicConversation
  readonly private: PrivateConversation
}

export interface PublicConversation {
  /** How many inputs were taken, the opening of the first context and what handlers published among them. A refused one is not. */
  readonly turn: number
  /** What is open, oldest first: the last is active and the others are suspended. */
  readonly stack: readonly Frame[]
  /** What was open once, oldest first. Bounded. */
  readonly closed: readonly ClosedFrame[]
  /** What the user was asked to choose between, until they answer. */
  readonly question: Question | null
  /** What was said and done, oldest first. Bounded in number and in size. */
  readonly history: readonly HistoryEntry[]
  /** What `summarise` made of what fell out of the history. */
  readonly summary: string
  /** The way through states and contexts, oldest first. Bounded. */
  readonly path: readonly ConversationTransition[]
  /** What all contexts share, where the conversation declares it. */
  readonly shared: JsonObject
  /** Why the conversation is over; `null` while it goes on. */
  readonly ended: string | null
  /** The `id` of the next frame. */
  readonly nextFrame: number
}

export interface PrivateConversation {
  /** The hidden data of each open frame that has any, by its id. */
  readonly hidden: { readonly [frame: string]: JsonObject }
  /** The hidden part of what all contexts share. */
  readonly shared: JsonObject
  /** The ids of the events that were delivered, oldest first. Bounded. */
  readonly events: readonly string[]
}

/** One opening of a context. The same context may be open more than once. */
export interface Frame {
  /** Unique within the conversation, from 1 up. */
  readonly id: number
  readonly context: string
  readonly state: string
  readonly data: JsonObject
}

/** A frame that is over: `finished` reached a final state, `cancelled` was given up. */
export interface ClosedFrame extends Frame {
  readonly how: 'finished' | 'cancelled'
  /** What the context returned; `null` where it was cancelled or returns nothing. */
  readonly result: JsonObject | null
}

/** A choice that the user was asked to make. */
export interface Question {
  readonly options: readonly QuestionOption[]
}

/** One of the meanings to choose between. */
export interface QuestionOption {
  /** As the user reads it. */
  readonly label: string
  readonly intent: string
  readonly slots: JsonObject
  /** The context that would take it; `null` for a command. */
  readonly context: string | null
  /** The frame that would take it; `null` where one would be opened. */
  readonly frame: number | null
  /** What was said for its slots and is no value of them. Default: nothing. */
  readonly unrecognised?: readonly Unrecognised[] | undefined
}

/** One input and what was answered. */
export interface HistoryEntry {
  readonly turn: number
  /** When, in milliseconds since 1970 UTC, as the input said. */
  readonly now: number
  readonly kind: 'utterance' | 'act' | 'command' | 'event'
  /** What the user said; for other inputs the name of the intent, command or event. */
  readonly text: string
  /** What it was taken for; `null` where it was not understood. */
  readonly intent: string | null
  readonly slots: JsonObject
  /** The context that took it; `null` where none did. */
  readonly context: string | null
  readonly replies: readonly string[]
}

/** One move of the conversation. */
export interface ConversationTransition {
  readonly turn: number
  /**
   * - `opened`: a context began; `to` is its first state.
   * - `moved`: it went from one state to another, or left and entered the same one.
   * - `suspended`, `resumed`: another context came over it; it is active again.
   * - `finished`, `cancelled`: it closed.
   */
  readonly kind: 'opened' | 'moved' | 'suspended' | 'resumed' | 'finished' | 'cancelled'
  readonly frame: number
  readonly context: string
  readonly from: string | null
  readonly to: string | null
  /** The intent, event or command that caused it; `null` where it followed by itself. */
  readonly on: string | null
}
