import type { JsonObject } from '@episodic/protocol'
import type { Interpreted } from './interpret-utterance.ts'
import type { Written } from './write-reply.ts'

/** All that can happen to a conversation: plain JSON, so that a list of them replays it. `now` is in milliseconds since 1970 UTC. */
export type ConversationInput =
  /** Something a user said, and what the interpreter made of it. */
  | {
      readonly kind: 'utterance'
      readonly text: string
      readonly interpreted: Interpreted
      /** What the conversation's writer made of the replies. Left out, the user gets the replies unchanged. */
      readonly written?: Written | undefined
      readonly now: number
    }
  /** An intent stated with no words, as a tool call does. */
  | {
      readonly kind: 'act'
      readonly intent: string
      readonly slots: JsonObject
      /** Who is to take it. Left out, whoever the router picks. */
      readonly context?: string | undefined
      readonly written?: Written | undefined
      readonly now: number
    }
  /** What a user wants of the conversation itself. */
  | { readonly kind: 'command'; readonly command: Command; readonly now: number }
  /** Something that happened outside. */
  | {
      readonly kind: 'event'
      /** Names this one event: another delivery of the same id does nothing. At most 128 characters. */
      readonly id: string
      readonly type: string
      readonly data: JsonObject
      readonly to: EventAddress
      readonly now: number
    }

/**
 * - `switch`: bring a context to the top: the one that was open last, or else a new one.
 * - `open`: open a context anew, though it may be open already.
 * - `cancel`: give the active context up; the one below resumes.
 * - `back`: go back to the context below; the active one changes places with it, and nothing is lost.
 * - `end`: end the conversation.
 */
export type Command =
  | { readonly name: 'switch' | 'open'; readonly context: string }
  | { readonly name: 'cancel' | 'back' | 'end' }

/** Whom an event reaches: everything open, the open frames of one context, or those that listen to a topic. */
export type EventAddress = 'conversation' | { readonly context: string } | { readonly topic: string }
