import type { Json, JsonObject } from '@episodic/protocol'
import type { ConversationRecord, ConversationTransition } from './conversation-record.ts'

/** The result of one input. Plain JSON. */
export interface TurnResult {
  /** The next record: the same object if the input was refused or a duplicate. */
  readonly record: ConversationRecord
  readonly replies: readonly Reply[]
  readonly transitions: readonly ConversationTransition[]
  /** Hidden data that handlers marked with `reveal`, in order. */
  readonly revealed: readonly Json[]
  /** The recognised intent; `null` if the input was not understood, refused, or not an utterance or act. */
  readonly intent: string | null
  /** Why nothing changed; `null` if the input was taken. */
  readonly refused: InputRefusal | null
  /** Whether the input is an event that was delivered before: nothing changed. */
  readonly duplicate: boolean
}

/** A reply to the user. */
export interface Reply {
  readonly text: string
  /** The context that said it; `null` for the conversation itself. */
  readonly context: string | null
  readonly frame: number | null
}

/** Why an input was refused. `message` says what was asked, what is true and what to do. */
export interface InputRefusal {
  readonly code: RefusalCode
  readonly message: string
  readonly details: JsonObject
}

/**
 * - `unknown-context`, `unknown-intent`, `unknown-event`: no context of the conversation has that name, intent or
 *   event.
 * - `slots-invalid`, `event-invalid`: the schema of the intent or event rejects its slots or data.
 * - `illegal-transition`: no open context accepts the intent now, and none opens by it.
 * - `too-deep`: the most contexts are open.
 * - `nothing-open`: there is nothing to cancel or to go back to.
 * - `text-too-long`: the utterance is longer than the conversation's bound.
 * - `input-invalid`: the value is not a valid input.
 * - `conversation-ended`: the conversation takes no more input.
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
