import type { Json, JsonObject } from '@episodic/protocol'
import type { z } from 'zod'
import type { EventAddress } from './conversation-input.ts'
import type { ClosedFrame, ConversationRecord, Frame } from './conversation-record.ts'
import type { Machine } from './machine.ts'
import type { Unrecognised } from './unrecognised.ts'

/** Schemas by name: the slots of intents, or the data of events. Each is an object schema. */
export type Schemas = { readonly [name: string]: z.ZodType }

/** What all contexts of a conversation may read and edit: a part that those who take part may see, and a part that they may not. */
export interface SharedSchemas {
  readonly public: z.ZodType
  readonly private: z.ZodType
}

/** What the shared schemas hold, as handlers see it. */
export type SharedOf<Shared extends SharedSchemas | undefined> = Shared extends SharedSchemas
  ? { public: z.output<Shared['public']>; private: z.output<Shared['private']> }
  : undefined

/** What an optional schema holds. */
export type OutputOf<Schema extends z.ZodType | undefined> = Schema extends z.ZodType ? z.output<Schema> : undefined

/** What a guard sees: everything, to read. */
export interface ContextView<Data, Hidden, Shared> {
  readonly data: Readonly<Data>
  readonly hidden: Readonly<Hidden>
  readonly shared: Readonly<Shared>
  /** When the input came, in milliseconds since 1970 UTC. */
  readonly now: number
}

/** What a hook gets: drafts to edit, thrown away when it throws, and a voice. */
export interface HandlerContext<Data, Hidden, Shared, Events extends Schemas = Record<never, never>> {
  readonly data: Data
  readonly hidden: Hidden
  readonly shared: Shared
  readonly now: number
  /** The name of the present state. */
  readonly state: string
  /** Tells the user something. What several hooks say is told in the order in which they said it. */
  say(text: string): void
  /** Marks what hidden data are allowed to tell, and returns it. A mark for readers and checkers: nothing enforces it. */
  reveal<T extends Json>(value: T): T
  /**
   * Publishes an event to whatever is open and hears of it, suspended or not: by default to everything, or to one context or
   * topic. It is delivered within the same input, as a turn that follows once everything that the present one caused is
   * done, after those that were published before it. More than 32 from one input on are taken for a circle. A conversation
   * that is over by then is told of none. Throws `unknown-event`, `event-invalid` and `unknown-context`.
   */
  publish<Type extends string>(
    type: Type,
    data: Type extends keyof Events ? z.input<Events[Type]> : JsonObject,
    to?: EventAddress,
  ): void
}

/** What an effect gets besides. */
export interface EffectContext<Data, Hidden, Shared, Events extends Schemas = Record<never, never>>
  extends HandlerContext<Data, Hidden, Shared, Events> {
  /** The data that this context had when it last closed, as long as the conversation remembers: for "and the day after?". */
  readonly previous: Readonly<Data> | null
  /** Opens another context over the active one, once this transition is made. Throws `unknown-context`. */
  open(context: string): void
  /** Brings this context to the top of the stack, once this transition is made. */
  activate(): void
  /** Ends the conversation, once this transition is made: no further input is taken. */
  endConversation(reason: string): void
}

/** What a handler may do with an intent or event: guarded, to another state, with an effect. All of it is optional. */
export interface Handler<View, Moment, State extends string> {
  /** Whether this handler takes it. Pure. Of several handlers the first whose guard agrees does. */
  readonly guard?: (view: View) => boolean
  /** The state to go to. Left out, the state stays and neither `exit` nor `entry` runs. */
  readonly target?: State
  /** Runs between `exit` of the old state and `entry` of the new. */
  readonly effect?: (moment: Moment) => void
}

export type Handlers<View, Moment, State extends string> =
  | Handler<View, Moment, State>
  | readonly Handler<View, Moment, State>[]

/** What comes with an input: the slots of an intent, or the data of an event. */
type Given<Intents extends Schemas, Events extends Schemas, Name> = Name extends keyof Intents
  ? {
      readonly slots: z.output<Intents[Name]>
      /** What was said for slots of the intent and is no value of them: none of these slots is in `slots`. Mostly empty. */
      readonly unrecognised: readonly Unrecognised[]
    }
  : Name extends keyof Events
    ? { readonly event: z.output<Events[Name]> }
    : never

/** What is taken, by the name of the intent or event. */
export type Accepts<
  Data,
  Hidden,
  Shared,
  Intents extends Schemas,
  Events extends Schemas,
  State extends string,
  Names = keyof Intents | keyof Events,
> = {
  readonly [Name in Names & string]?: Handlers<
    ContextView<Data, Hidden, Shared> & Given<Intents, Events, Name>,
    EffectContext<Data, Hidden, Shared, Events> & Given<Intents, Events, Name>,
    State
  >
}

/** One state of a context. */
export interface StateDefinition<
  Data,
  Hidden,
  Shared,
  Intents extends Schemas,
  Events extends Schemas,
  State extends string,
> {
  readonly entry?: (moment: HandlerContext<Data, Hidden, Shared, Events>) => void
  readonly exit?: (moment: HandlerContext<Data, Hidden, Shared, Events>) => void
  /** What is accepted here, by intent or event. Asked before the `on` of the context. */
  readonly on?: Accepts<Data, Hidden, Shared, Intents, Events, State>
  /** Transitions that need no input: tried in order after every other one, until none applies. */
  readonly always?: readonly Handler<
    ContextView<Data, Hidden, Shared>,
    EffectContext<Data, Hidden, Shared, Events>,
    State
  >[]
  /** What the user is asked here: told last whenever the context was entered, moved, edited or resumed in this state. */
  readonly prompt?: (view: ContextView<Data, Hidden, Shared>) => string
  /** Whether the context is done here. Nothing is accepted in a final state. */
  readonly final?: boolean
}

/** What an author hands to `defineContext`. */
export interface ContextDefinition<
  Name extends string,
  Data extends z.ZodType,
  Hidden extends z.ZodType | undefined,
  Shared extends SharedSchemas | undefined,
  Intents extends Schemas,
  Events extends Schemas,
  State extends string,
  Result extends JsonObject | undefined,
> {
  /** Lower-case words joined by hyphens. */
  readonly name: Name
  /** What it is for, in words that follow "back to": `your booking`. */
  readonly description: string
  /** The context's own data, public. An object schema that makes its start of `{}`: give every field a default. */
  readonly data: Data
  /** Data that nobody who takes part may see. An object schema that makes its start of `{}`, too. */
  readonly hidden?: Hidden
  /** What it shares with other contexts: the same schemas as the conversation's own `shared`. */
  readonly shared?: Shared
  /** The intents that it understands, with the schema of their slots. `.describe(…)` says what the user wants. */
  readonly intents: Intents
  /** The outside events that it hears of, with the schema of their data. */
  readonly events?: Events
  readonly states: {
    readonly [Name in State]: StateDefinition<
      z.output<Data>,
      OutputOf<Hidden>,
      SharedOf<Shared>,
      NoInfer<Intents>,
      NoInfer<Events>,
      NoInfer<State>
    >
  }
  readonly initial: NoInfer<State>
  /**
   * The intents that open this context, where it is not open or does not accept them. Their effect runs before the first
   * `entry`; without `target` it begins in `initial`.
   */
  readonly opens?: Accepts<
    z.output<Data>,
    OutputOf<Hidden>,
    SharedOf<Shared>,
    NoInfer<Intents>,
    NoInfer<Events>,
    NoInfer<State>,
    keyof NoInfer<Intents>
  >
  /** What is accepted in every state that is not final and does not say otherwise itself. */
  readonly on?: Accepts<
    z.output<Data>,
    OutputOf<Hidden>,
    SharedOf<Shared>,
    NoInfer<Intents>,
    NoInfer<Events>,
    NoInfer<State>
  >
  /** The topics that events reach it by, besides its name. */
  readonly topics?: (data: Readonly<z.output<Data>>) => readonly string[]
  /** Runs after every change of state, between `entry` and `always`. */
  readonly onTransition?: (
    moment: HandlerContext<z.output<Data>, OutputOf<Hidden>, SharedOf<Shared>, NoInfer<Events>> & {
      readonly from: NoInfer<State>
      readonly to: NoInfer<State>
      /** The intent or event that caused it; `null` where it followed by itself. */
      readonly on: string | null
    },
  ) => void
  /**
   * Runs for each slot of an intent for which something was said that is no value of it, before the intent is taken: "from
   * Berlin", where no flight leaves. Say so, and forget the value that the slot had, so that it is asked for again. Left out,
   * such an intent is not taken: the conversation's `fallback` tells the user, and nothing changes.
   */
  readonly unrecognised?: (
    moment: HandlerContext<z.output<Data>, OutputOf<Hidden>, SharedOf<Shared>, NoInfer<Events>> &
      Unrecognised & { readonly intent: keyof NoInfer<Intents> & string },
  ) => void
  /**
   * Runs when it is active again after a digression, and says so. `closed` is what stood over it, where that is over.
   * Default: says "Back to" and the description.
   */
  readonly resume?: (
    moment: HandlerContext<z.output<Data>, OutputOf<Hidden>, SharedOf<Shared>, NoInfer<Events>> & {
      readonly closed: ClosedFrame | null
    },
  ) => void
  /** What it returns in a final state, told to the context that it was opened over and kept with what is closed. */
  readonly result?: (view: ContextView<z.output<Data>, OutputOf<Hidden>, SharedOf<Shared>>) => Result
}

/** A context, as `defineContext` returns it. */
export interface Context<
  Name extends string = string,
  Data = unknown,
  Intents extends Schemas = Schemas,
  Events extends Schemas = Schemas,
  State extends string = string,
  Result extends JsonObject | undefined = JsonObject | undefined,
> {
  readonly name: Name
  readonly description: string
  readonly states: readonly State[]
  readonly initial: State
  readonly data: z.ZodType
  readonly hidden: z.ZodType | null
  readonly shared: SharedSchemas | null
  readonly intents: Intents
  readonly events: Events
  /** Every transition there may be, in the order of the definition: what diagrams and pages draw. */
  readonly edges: readonly Edge[]
  /** What it does, its types erased: what a conversation plays. */
  readonly machine: Machine
  /** The frame of this context that is nearest to the top of the stack; `null` where it is not open. */
  find(record: ConversationRecord): FrameOf<Data, State> | null
  /** The frames of this context that are over, oldest first, as long as the conversation remembers them. */
  closed(record: ConversationRecord): readonly ClosedFrameOf<Data, State, Result>[]
  /** Draws the machine as a Mermaid state diagram, with the state that is given lit. */
  toMermaid(lit?: State): string
}

/** A frame whose context is known. */
export interface FrameOf<Data, State extends string> extends Omit<Frame, 'data' | 'state'> {
  readonly state: State
  readonly data: Data
}

/** A closed frame whose context is known. */
export interface ClosedFrameOf<Data, State extends string, Result>
  extends Omit<ClosedFrame, 'data' | 'state' | 'result'> {
  readonly state: State
  readonly data: Data
  readonly result: Result | null
}

/** A transition that may happen. */
export interface Edge {
  /** The state that it leaves; `null` for one that opens the context. */
  readonly from: string | null
  /** The state that it enters; that of `from` where it stays. */
  readonly to: string
  /** The intent or event; `null` where it follows by itself. */
  readonly on: string | null
  readonly kind: 'intent' | 'event' | 'always'
  /** The name of its guard function, "guarded" where that has none, `null` where there is no guard. */
  readonly guard: string | null
}
