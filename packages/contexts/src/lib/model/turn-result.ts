import type { Json, JsonObject } from '@episodic/protocol'
import type { ConversationRecord, ConversationTransition } from './conversation-record.ts'

/** What one input came to. Plain JSON. */
export interface TurnResult {
  /** The record after it: the very same where the input was refused or a duplicate. */
  readonly record: ConversationRecord
  /** What the user is told, in order. */
  readonly replies: readonly Reply[]
  readonly transitions: readonly ConversationTransition[]
  /** What handlers marked as told of hidden data, in order. */
  readonly revealed: readonly Json[]
  /** What the input was taken for; `null` where it was not understood, refused, or no utterance or act. */
  readonly intent: string | null
  /** Why nothing changed; `null` where the input was taken. */
  readonly refused: InputRefusal | null
  /** Whether it is an event that was delivered before: nothing changed. */
  readonly duplicate: boolean
}

/** Something that the user is told. */
export interface Reply {
  readonly text: string
  /** Who says it; `null` for the conversation itself. */
  readonly context: string | null
  readonly frame: number | null
}

/** Why an input was not taken. `message` says what was asked, what is true and what to do. */
export interface InputRefusal {
  readonly code: RefusalCode
  readonly message: string
  readonly details: JsonObject
}

/**
 * - `unknown-context`, `unknown-intent`, `unknown-event`: no context of the conversation has that name, intent or event.
 * - `slots-invalid`, `event-invalid`: the schema of the intent or event refuses what came with it.
 * - `illegal-transition`: no open context accepts the intent now, and none opens by it.
 * - `too-deep`: as many contexts are open as may be.
 * - `nothing-open`: there is nothing to cancel or to go back to.
 * - `text-too-long`: the utterance passes the bound of the conversation.
 * - `input-invalid`: the input is not one.
 * - `conversation-ended`: nothing more is taken.
 */
export type RefusalCode =
  | 'unknown-context'
  | 'unknown-intent'
  | 'unknown-event'
  | 'slots-invalid'
  | 'event-invalid'
  | 'illegal-transition'
  | 'too-deep'
  | 'nothing-open'
  | 'text-too-long'
  | 'input-invalid'
  | 'conversation-ended'
