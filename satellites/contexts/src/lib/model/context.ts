import type { Json, JsonObject } from '@episodic/protocol'
import type { z } from 'zod'
import type { EventAddress } from './conversation-input.ts'
import type { ClosedFrame, ConversationRecord, Frame, Unrecognised } from './conversation-record.ts'
import type { Machine } from './machine.ts'

/** Schemas by name: the slots of intents, or the data of events. Each is an object schema. */
export type Schemas = { readonly [name: string]: z.ZodType }

/** Schemas of the data that all contexts share: a part that participants may see, and one that they may not. */
export interface SharedSchemas {
  readonly public: z.ZodType
  readonly private: z.ZodType
}

export type SharedOf<Shared extends SharedSchemas | undefined> = Shared extends SharedSchemas
  ? { public: z.output<Shared['public']>; private: z.output<Shared['private']> }
  : undefined

export type OutputOf<Schema extends z.ZodType | undefined> = Schema extends z.ZodType ? z.output<Schema> : undefined

/** What a guard receives: read-only. */
export interface ContextView<Data, Hidden, Shared> {
  readonly data: Readonly<Data>
  readonly hidden: Readonly<Hidden>
  readonly shared: Readonly<Shared>
  /** The time of the input, in milliseconds since 1970 UTC. */
  readonly now: number
}

/** What a hook receives. Data are drafts to edit, which are discarded if the hook throws. */
export interface HandlerContext<Data, Hidden, Shared, Events extends Schemas = Record<never, never>> {
  readonly data: Data
  readonly hidden: Hidden
  readonly shared: Shared
  readonly now: number
  readonly state: string
  say(text: string): void
  /** Marks a hidden value as disclosed on purpose, and returns it. For readers and checkers: nothing enforces it. */
  reveal<T extends Json>(value: T): T
  /**
   * Publishes an event to the open frames that handle it, active or suspended: by default to all, or to one context or
   * topic. It is delivered within the same input, in a turn of its own after the present one, in the order of
   * publication. More than 32 events caused by one input are a cycle: `handler-failed`. Once the conversation has
   * ended, none is delivered. Throws `unknown-event`, `event-invalid` and `unknown-context`.
   */
  publish<Type extends string>(
    type: Type,
    data: Type extends keyof Events ? z.input<Events[Type]> : JsonObject,
    to?: EventAddress,
  ): void
}

/** What an effect receives. */
export interface EffectContext<Data, Hidden, Shared, Events extends Schemas = Record<never, never>>
  extends HandlerContext<Data, Hidden, Shared, Events> {
  /** The data of this context's last closed frame, while the record keeps it: for "and the day after?". */
  readonly previous: Readonly<Data> | null
  /** Opens another context over the active one, after this transition. Throws `unknown-context`. */
  open(context: string): void
  activate(): void
  /** Ends the conversation, after this transition: no further input is taken. */
  endConversation(reason: string): void
}

/** How a state handles an intent or event. Every part is optional. */
export interface Handler<View, Effect, State extends string> {
  /** Whether this handler applies. Pure. Of several handlers the first whose guard returns true applies. */
  readonly guard?: (view: View) => boolean
  /** The state to go to. Left out, the state stays and neither `exit` nor `entry` runs. */
  readonly target?: State
  /** Runs between `exit` of the old state and `entry` of the new. */
  readonly effect?: (context: Effect) => void
}

export type Handlers<View, Effect, State extends string> =
  | Handler<View, Effect, State>
  | readonly Handler<View, Effect, State>[]

type InputContent<Intents extends Schemas, Events extends Schemas, Name> = Name extends keyof Intents
  ? {
      readonly slots: z.output<Intents[Name]>
      /** Phrases for slots of the intent that are not valid values: none of these slots is in `slots`. Mostly empty. */
      readonly unrecognised: readonly Unrecognised[]
    }
  : Name extends keyof Events
    ? { readonly event: z.output<Events[Name]> }
    : never

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
    ContextView<Data, Hidden, Shared> & InputContent<Intents, Events, Name>,
    EffectContext<Data, Hidden, Shared, Events> & InputContent<Intents, Events, Name>,
    State
  >
}

export interface StateDefinition<
  Data,
  Hidden,
  Shared,
  Intents extends Schemas,
  Events extends Schemas,
  State extends string,
> {
  readonly entry?: (context: HandlerContext<Data, Hidden, Shared, Events>) => void
  readonly exit?: (context: HandlerContext<Data, Hidden, Shared, Events>) => void
  /** Handlers of this state, by intent or event. Tried before the `on` of the context. */
  readonly on?: Accepts<Data, Hidden, Shared, Intents, Events, State>
  /** Transitions without an input: tried in order after every transition, until none applies. */
  readonly always?: readonly Handler<
    ContextView<Data, Hidden, Shared>,
    EffectContext<Data, Hidden, Shared, Events>,
    State
  >[]
  /** The question to the user: sent last, whenever the context was entered, moved, edited or resumed in this state. */
  readonly prompt?: (view: ContextView<Data, Hidden, Shared>) => string
  /** Whether the context closes here. A final state accepts nothing. */
  readonly final?: boolean
}

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
  /** Its purpose, in words that can follow "back to": `your booking`. */
  readonly description: string
  /** The context's own data, public. An object schema that accepts `{}`: give every field a default. */
  readonly data: Data
  /** Data that no participant may see. An object schema that accepts `{}`, too. */
  readonly hidden?: Hidden
  /** The data shared with other contexts: the same schemas as the conversation's own `shared`. */
  readonly shared?: Shared
  /** The intents that it understands, with the schema of their slots. `.describe(…)` says what the user wants. */
  readonly intents: Intents
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
   * The intents that open this context if it is not open or does not accept them. Their effect runs before the first
   * `entry`; without `target` it starts in `initial`.
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
  /** Handlers of every state that is not final, tried after those of the state itself. */
  readonly on?: Accepts<
    z.output<Data>,
    OutputOf<Hidden>,
    SharedOf<Shared>,
    NoInfer<Intents>,
    NoInfer<Events>,
    NoInfer<State>
  >
  readonly topics?: (data: Readonly<z.output<Data>>) => readonly string[]
  /** Runs after every change of state, between `entry` and `always`. */
  readonly onTransition?: (
    context: HandlerContext<z.output<Data>, OutputOf<Hidden>, SharedOf<Shared>, NoInfer<Events>> & {
      readonly from: NoInfer<State>
      readonly to: NoInfer<State>
      readonly on: string | null
    },
  ) => void
  /**
   * Runs before the intent's handler, once for each slot whose phrase is not a valid value: "from Berlin", if no flight
   * leaves there. Say so, and reset the slot's value, so that the user is asked again. Left out, such an intent changes
   * nothing, and the conversation's `fallback` replies.
   */
  readonly unrecognised?: (
    context: HandlerContext<z.output<Data>, OutputOf<Hidden>, SharedOf<Shared>, NoInfer<Events>> &
      Unrecognised & { readonly intent: keyof NoInfer<Intents> & string },
  ) => void
  /** Runs when the context is active again, and says so. `closed`: the frame above it. Default: says "Back to …". */
  readonly resume?: (
    context: HandlerContext<z.output<Data>, OutputOf<Hidden>, SharedOf<Shared>, NoInfer<Events>> & {
      readonly closed: ClosedFrame | null
    },
  ) => void
  /** The result in a final state: passed to `resume` of the context below, and kept with the closed frame. */
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
  /** Every possible transition, in the order of the definition: for pages. */
  readonly edges: readonly Edge[]
  readonly machine: Machine
  /** Returns the frame of this context that is nearest to the top of the stack; `null` if it is not open. */
  find(record: ConversationRecord): FrameOf<Data, State> | null
  /** Returns the closed frames of this context that the record keeps, oldest first. */
  closed(record: ConversationRecord): readonly ClosedFrameOf<Data, State, Result>[]
}

export interface FrameOf<Data, State extends string> extends Omit<Frame, 'data' | 'state'> {
  readonly state: State
  readonly data: Data
}

export interface ClosedFrameOf<Data, State extends string, Result>
  extends Omit<ClosedFrame, 'data' | 'state' | 'result'> {
  readonly state: State
  readonly data: Data
  readonly result: Result | null
}

export interface Edge {
  /** The state that it leaves; `null` for a transition that opens the context. */
  readonly from: string | null
  /** The state that it enters; `from` if it stays. */
  readonly to: string
  /** The intent or event; `null` for an `always` transition. */
  readonly on: string | null
  readonly kind: 'intent' | 'event' | 'always'
  /** The name of its guard function, "guarded" if that has none, `null` if there is no guard. */
  readonly guard: string | null
}
