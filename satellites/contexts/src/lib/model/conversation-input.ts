import type { JsonObject } from '@episodic/protocol'
import type { Interpreted } from './interpret-utterance.ts'

/** An input of a conversation: plain JSON, so that a list of them replays it. `now`: milliseconds since 1970 UTC. */
export type ConversationInput =
  /** What a user said, and its interpretation. */
  | {
      readonly kind: 'utterance'
      readonly text: string
      readonly interpreted: Interpreted
      readonly now: number
    }
  /** An intent stated without words, as a tool call does. */
  | {
      readonly kind: 'act'
      readonly intent: string
      readonly slots: JsonObject
      /** The context that has to handle it. Left out, the router picks. */
      readonly context?: string | undefined
      readonly now: number
    }
  /** A command to the conversation itself. */
  | { readonly kind: 'command'; readonly command: Command; readonly now: number }
  /** An external event. */
  | {
      readonly kind: 'event'
      /** Identifies the event: another delivery with the same id does nothing. At most 128 characters. */
      readonly id: string
      readonly type: string
      readonly data: JsonObject
      readonly to: EventAddress
      readonly now: number
    }

/**
 * - `switch`: activates the frame of a context that is nearest to the top, or opens one.
 * - `open`: opens a new frame of a context, even if one is open.
 * - `cancel`: closes the active frame; the one below resumes.
 * - `back`: swaps the active frame and the one below; nothing is lost.
 * - `end`: ends the conversation.
 */
export type Command =
  | { readonly name: 'switch' | 'open'; readonly context: string }
  | { readonly name: 'cancel' | 'back' | 'end' }

/** The frames that an event reaches: all open ones, those of one context, or those that subscribe to a topic. */
export type EventAddress = 'conversation' | { readonly context: string } | { readonly topic: string }
