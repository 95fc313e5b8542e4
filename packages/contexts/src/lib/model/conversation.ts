import type { z } from 'zod'
import type { AskOptions } from './ask-text.ts'
import type { Context, SharedOf, SharedSchemas } from './context.ts'
import type { ConversationInput, EventAddress } from './conversation-input.ts'
import type { ConversationRecord, Frame, HistoryEntry, QuestionOption } from './conversation-record.ts'
import type { Interpreted, InterpretOptions } from './interpret-utterance.ts'
import type { IntentInfo, Interpreter } from './interpreter.ts'
import type { ReplyWriter } from './reply-writer.ts'
import type { Router } from './router.ts'
import type { TurnResult } from './turn-result.ts'
import type { Unrecognised } from './unrecognised.ts'
import type { Written } from './write-reply.ts'

/** How much a conversation holds. Each has a default. */
export interface ConversationBounds {
  /** How many contexts may be open at once. Default 8. */
  readonly depth: number
  /** The longest utterance, in UTF-16 code units. Default 4,000. */
  readonly text: number
  /** How many entries of history are kept, default 50, and how much text, slots and replies of them, in UTF-16 code units, default 32,768. */
  readonly history: { readonly entries: number; readonly bytes: number }
  /** The longest summary of what fell out of the history, in UTF-16 code units: what is longer is cut. Default 2,000. */
  readonly summary: number
  /** How many closed frames are remembered. Default 16. */
  readonly closed: number
  /** How many transitions of the path are remembered. Default 64. */
  readonly path: number
  /** How many ids of delivered events are remembered, so that a repeated one does nothing. Default 256. */
  readonly events: number
  /** How many replies one turn may get, default 16, and how long each may be, in UTF-16 code units, default 4,000. */
  readonly replies: { readonly count: number; readonly length: number }
}

/** Why the conversation speaks for itself: it has to ask, instead of handing on what was said, or nobody else would answer. */
export type FallbackReason =
  /** No candidate was good enough for any context. */
  | { readonly kind: 'not-understood' }
  /** Several were, and equally so: the user is to choose. */
  | { readonly kind: 'ambiguous'; readonly options: readonly QuestionOption[] }
  /** The user meant none of what they were asked to choose between. */
  | { readonly kind: 'declined' }
  /** Something was said for a slot and is no value of it, and the context that would take the intent does not handle that itself. */
  | { readonly kind: 'unrecognised'; readonly intent: string; readonly values: readonly Unrecognised[] }
  /** The interpreter failed; `problem` says how. */
  | { readonly kind: 'interpreter-failed'; readonly problem: string }
  /** The user wants to give up what is open, or to go back to what is below it, and there is nothing. */
  | { readonly kind: 'nothing-open'; readonly command: 'cancel' | 'back' }
  /** The user has given up the only context that was open, and it said nothing itself. */
  | { readonly kind: 'cancelled'; readonly context: string }
  /** The user has ended the conversation, with `active` still open where there is one. */
  | { readonly kind: 'ended' }

/** What an author hands to `defineConversation`. */
export interface ConversationDefinition<
  Contexts extends readonly Context[],
  Shared extends SharedSchemas | undefined = undefined,
> {
  /** Lower-case words joined by hyphens. */
  readonly name: string
  readonly contexts: Contexts
  /** Turns what a user says into intents. Left out, the conversation takes acts, commands and events alone. */
  readonly interpreter?: Interpreter
  /** Puts what the contexts answer into other words. Left out, users read it as the contexts wrote it. */
  readonly writer?: ReplyWriter
  /** Picks who takes an utterance. Default: `createRouter()`. */
  readonly router?: Router
  /** What all contexts share: object schemas. Contexts that use it name the same schemas. */
  readonly shared?: Shared
  /** The context that is open from the start. Left out, none is. */
  readonly initial?: Contexts[number]['name']
  /** Says what the conversation itself tells the user. Default: plain English. */
  readonly fallback?: (
    reason: FallbackReason,
    about: { readonly active: Frame | null; readonly history: readonly HistoryEntry[] },
  ) => string
  /** Puts what fell out of the history into a summary, from the summary so far. Default: it is forgotten. */
  readonly summarise?: (summary: string, dropped: readonly HistoryEntry[]) => string
  readonly bounds?: Partial<ConversationBounds>
}

/** The names of all intents of some contexts. */
export type IntentName<Contexts extends readonly Context[]> = keyof IntentsOf<Contexts[number]> & string
/** What the slots of an intent are given as. */
export type SlotsOf<Contexts extends readonly Context[], Intent extends string> = SchemaInput<
  IntentsOf<Contexts[number]>,
  Intent
>
/** The names of all events of some contexts. */
export type EventName<Contexts extends readonly Context[]> = keyof EventsOf<Contexts[number]> & string
/** What the data of an event is given as. */
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

/** A conversation, as `defineConversation` returns it. Holds no state: records go in and come out. */
export interface Conversation<
  Contexts extends readonly Context[] = readonly Context[],
  Shared extends SharedSchemas | undefined = SharedSchemas | undefined,
> {
  readonly name: string
  readonly contexts: Contexts
  readonly interpreter: Interpreter | null
  readonly writer: ReplyWriter | null
  readonly router: Router
  readonly shared: Shared
  readonly bounds: ConversationBounds
  /** Every intent, the commands among them. */
  readonly intents: readonly IntentInfo[]
  /** Schemas of the two parts of a record: both refuse or drop whatever is not declared. */
  readonly schemas: { readonly public: z.ZodObject; readonly private: z.ZodObject }
  /** Begins a conversation. `shared` is what all contexts share at first: its schemas' defaults unless given. Throws `record-invalid` where its schemas refuse it. */
  start(options?: {
    readonly shared?: SharedOf<Shared>
    /** Milliseconds since 1970 UTC, for the first context's `entry`. Default 0. */
    readonly now?: number
  }): TurnResult
  /**
   * Asks the interpreter what an utterance means, and answers whatever happens: a throw, a lateness or garbage is a
   * `problem` in the result, which is plain JSON and makes the input of an utterance. Rejects only when `signal` is aborted.
   */
  interpret(record: ConversationRecord, text: string, options: InterpretOptions): Promise<Interpreted>
  /** The same for an interpreter that answers at once. One that answers later has failed. */
  interpretNow(record: ConversationRecord, text: string, options: { readonly now: number }): Interpreted
  /**
   * Asks the writer to put what an input would be answered into other words. The result makes the `written` of the same input, for
   * `handleInput` with the same record; a throw, a lateness, and a text that drops or invents a fact are a `problem` in it, and the replies
   * are told as they are. Rejects only when `signal` is aborted.
   */
  write(record: ConversationRecord, input: ConversationInput, options?: AskOptions): Promise<Written>
  /**
   * Takes one input: pure, so that equal records and inputs give equal results, and `record` stays as it was.
   *
   * What a user or an event can get wrong is `refused` in the result. Throws `handler-failed` for what a context's code
   * throws or breaks, and `record-invalid` for a record that is not one of this conversation.
   */
  handleInput(record: ConversationRecord, input: ConversationInput): TurnResult
  /** An input that states an intent with no words, its slots typed. */
  act<Intent extends IntentName<Contexts>>(
    intent: Intent,
    slots: SlotsOf<Contexts, Intent>,
    options: {
      readonly now: number
      /** Who is to take it. Default: whoever the router picks. */
      readonly context?: Contexts[number]['name']
    },
  ): ConversationInput
  /** An input that tells of an outside event, its data typed. */
  event<Event extends EventName<Contexts>>(
    type: Event,
    data: EventData<Contexts, Event>,
    options: { readonly id: string; readonly to: EventAddress; readonly now: number },
  ): ConversationInput
  /** What all contexts share, typed: both parts of it. */
  sharedOf(record: ConversationRecord): SharedOf<Shared>
  /** Reads a record that was kept, with whatever is not declared left out. Throws `record-invalid` where it is not one of this conversation. */
  parse(value: unknown): ConversationRecord
  /** Draws the way that a conversation has gone, as a Mermaid state diagram of its contexts and states. */
  toMermaid(record: ConversationRecord): string
}
