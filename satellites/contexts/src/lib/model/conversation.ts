import type { z } from 'zod'
import type { Context, SharedOf, SharedSchemas } from './context.ts'
import type { ConversationInput, EventAddress } from './conversation-input.ts'
import type { ConversationRecord, Frame, HistoryEntry, QuestionOption, Unrecognised } from './conversation-record.ts'
import type { Interpreted, InterpretOptions } from './interpret-utterance.ts'
import type { IntentInfo, Interpreter } from './interpreter.ts'
import type { Router } from './router.ts'
import type { TurnResult } from './turn-result.ts'

/** The bounds of a conversation. Each has a default. */
export interface ConversationBounds {
  /** The most frames that may be open at once. Default 8. */
  readonly depth: number
  /** The longest utterance, in UTF-16 code units. Default 4,000. */
  readonly text: number
  /** The most history entries, default 50, and UTF-16 code units of text, slots and replies, default 32,768. */
  readonly history: { readonly entries: number; readonly bytes: number }
  /** The longest summary, in UTF-16 code units: a longer one is cut. Default 2,000. */
  readonly summary: number
  /** The most closed frames that are kept. Default 16. */
  readonly closed: number
  /** The most transitions of the path that are kept. Default 64. */
  readonly path: number
  /** The most ids of delivered events that are kept: a repeated one does nothing. Default 256. */
  readonly events: number
  /** The most replies in one turn, default 16, and the longest reply, in UTF-16 code units, default 4,000. */
  readonly replies: { readonly count: number; readonly length: number }
}

/** Why the conversation itself replies, instead of a context. */
export type FallbackReason =
  /** No candidate was likely enough. */
  | { readonly kind: 'not-understood' }
  /** Several were equally likely: the user has to choose. */
  | { readonly kind: 'ambiguous'; readonly options: readonly QuestionOption[] }
  /** The user chose none of the options. */
  | { readonly kind: 'declined' }
  /** Phrases for slots are not valid values, and the context that accepts the intent has no `unrecognised` hook. */
  | { readonly kind: 'unrecognised'; readonly intent: string; readonly values: readonly Unrecognised[] }
  | { readonly kind: 'interpreter-failed'; readonly problem: string }
  /** The user wants to cancel the active context or go back to the one below, and there is none. */
  | { readonly kind: 'nothing-open'; readonly command: 'cancel' | 'back' }
  /** The user cancelled the only open context, and it said nothing itself. */
  | { readonly kind: 'cancelled'; readonly context: string }
  /** The user ended the conversation; `active` is still open, if not `null`. */
  | { readonly kind: 'ended' }

export interface ConversationDefinition<
  Contexts extends readonly Context[],
  Shared extends SharedSchemas | undefined = undefined,
> {
  /** Lower-case words joined by hyphens. */
  readonly name: string
  readonly contexts: Contexts
  /** Maps utterances to intents. Left out, the conversation takes only acts, commands and events. */
  readonly interpreter?: Interpreter
  /** Picks the context that handles an utterance. Default: `createRouter()`. */
  readonly router?: Router
  /** Object schemas of the data that all contexts share. Contexts that use it name the same schemas. */
  readonly shared?: Shared
  /** The context that is open from the start. Left out, none is. */
  readonly initial?: Contexts[number]['name']
  /** Returns the conversation's own replies. Default: `plainFallback(contexts)`, in English. */
  readonly fallback?: (
    reason: FallbackReason,
    about: { readonly active: Frame | null; readonly history: readonly HistoryEntry[] },
  ) => string
  /** Returns a summary of the last one and the entries that the history drops. Default: the last one. */
  readonly summarise?: (summary: string, dropped: readonly HistoryEntry[]) => string
  readonly bounds?: Partial<ConversationBounds>
}

export type IntentName<Contexts extends readonly Context[]> = keyof IntentsOf<Contexts[number]> & string
export type SlotsOf<Contexts extends readonly Context[], Intent extends string> = SchemaInput<
  IntentsOf<Contexts[number]>,
  Intent
>
export type EventName<Contexts extends readonly Context[]> = keyof EventsOf<Contexts[number]> & string
export type EventData<Contexts extends readonly Context[], Event extends string> = SchemaInput<
  EventsOf<Contexts[number]>,
  Event
>

type UnionToIntersection<Union> = (Union extends unknown ? (each: Union) => void : never) extends (
  all: infer Intersection,
) => void
  ? Intersection
  : never
type IntentsOf<One extends Context> = UnionToIntersection<One extends Context ? One['intents'] : never>
type EventsOf<One extends Context> = UnionToIntersection<One extends Context ? One['events'] : never>
type SchemaInput<All, Name extends string> = Name extends keyof All
  ? All[Name] extends z.ZodType
    ? z.input<All[Name]>
    : never
  : never

/** A conversation, as `defineConversation` returns it. It holds no state: every method takes a record. */
export interface Conversation<
  Contexts extends readonly Context[] = readonly Context[],
  Shared extends SharedSchemas | undefined = SharedSchemas | undefined,
> {
  readonly name: string
  readonly contexts: Contexts
  readonly interpreter: Interpreter | null
  readonly router: Router
  readonly shared: Shared
  readonly bounds: ConversationBounds
  /** Every intent, including the commands. */
  readonly intents: readonly IntentInfo[]
  /** Schemas of the two parts of a record: both reject or drop undeclared keys. */
  readonly schemas: { readonly public: z.ZodObject; readonly private: z.ZodObject }
  /** Starts a conversation. Default for `shared`: of its schemas. Throws `record-invalid` if they reject it. */
  start(options?: {
    readonly shared?: SharedOf<Shared>
    /** Milliseconds since 1970 UTC, for the first context's `entry`. Default 0. */
    readonly now?: number
  }): TurnResult
  /**
   * Asks the interpreter what an utterance means. The result is plain JSON, for the `interpreted` of an input; a throw,
   * a timeout or invalid output is a `problem` in it. Rejects only when `signal` is aborted.
   */
  interpret(record: ConversationRecord, text: string, options: InterpretOptions): Promise<Interpreted>
  /** The same for an interpreter that answers synchronously. A promise is a `problem`. */
  interpretNow(record: ConversationRecord, text: string, options: { readonly now: number }): Interpreted
  /**
   * Takes one input and returns the next record. Pure: equal records and inputs give equal results, and `record` is not
   * edited.
   *
   * Mistakes of users and events are `refused` in the result. Throws `handler-failed` if a context's code throws or
   * leaves invalid data, and `record-invalid` if the record is not one of this conversation.
   */
  handleInput(record: ConversationRecord, input: ConversationInput): TurnResult
  /** Returns an input that states an intent without words, with typed slots. */
  act<Intent extends IntentName<Contexts>>(
    intent: Intent,
    slots: SlotsOf<Contexts, Intent>,
    options: {
      readonly now: number
      /** The context that has to handle it. Default: the router picks. */
      readonly context?: Contexts[number]['name']
    },
  ): ConversationInput
  /** Returns the input of an external event, with typed data. */
  event<Event extends EventName<Contexts>>(
    type: Event,
    data: EventData<Contexts, Event>,
    options: { readonly id: string; readonly to: EventAddress; readonly now: number },
  ): ConversationInput
  sharedOf(record: ConversationRecord): SharedOf<Shared>
  /** Parses a stored record, without undeclared keys. Throws `record-invalid` if it is not one of this conversation. */
  parse(value: unknown): ConversationRecord
}
