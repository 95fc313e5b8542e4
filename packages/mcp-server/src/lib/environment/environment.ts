import type {
  EpisodeEnd,
  EventInfo,
  Json,
  JsonObject,
  LegalActions,
  LimitsRequest,
  RecordedEvent,
  Refusal,
  Rng,
  ToolAnnotations,
  ToolInfo,
} from '@episodic/protocol'
import type { SavableRng } from '@episodic/protocol/extend'
import type { History, HistoryBounds, SessionState } from '@episodic/state'
import type { z } from 'zod'

/** What is true in a world: a part that players may see and a part that they may not. */
export interface WorldState<Public, Private> {
  public: Public
  private: Private
}

/** What `start` gets. */
export interface StartContext<Params> {
  readonly params: Params
  readonly rng: Rng
}

/** A tool's answer, made by `say`. */
export interface Said<Data> {
  readonly kind: 'said'
  readonly text: string
  readonly data: Data
}

/** A refused action, made by `refuse`: nothing changes, but the step is answered and counts. */
export interface Refused {
  readonly kind: 'refused'
  readonly text: string
}

/**
 * A value that may be looked at and not changed, all the way down to where any key may be: what is JSON at large has no end
 * that a type could follow.
 */
export type ReadOnly<T> = { [key: string]: never } extends T
  ? T
  : T extends object
    ? { readonly [Key in keyof T]: ReadOnly<T[Key]> }
    : T

/** What `prepare` gets. */
export interface PrepareContext<State, Params, Input> {
  /** The state that the step is about to be played on, frozen. */
  readonly state: ReadOnly<State>
  readonly input: Input
  readonly params: Params
  /** Aborted once the tool's `prepareSeconds` are over, and where nobody waits for the answer any more. */
  readonly signal: AbortSignal
}

/** What `play` gets. */
export interface PlayContext<
  State,
  Params,
  Input,
  Data,
  Prepared = undefined,
  Events extends WorldEvents = WorldEvents,
> {
  /** A draft to edit. Thrown away when the action is refused or `play` throws. */
  readonly state: State
  readonly input: Input
  /** What the tool's `prepare` gave; `undefined` where it has none. */
  readonly prepared: Prepared
  readonly params: Params
  readonly rng: Rng
  /** Virtual time in milliseconds: 0 at the start, moved by `elapse` alone. */
  readonly now: number
  /** What the session remembers of earlier steps; empty unless the environment bounds a `history`. */
  readonly history: History
  /** Ends the play with an answer to the player. */
  say(...answer: undefined extends Data ? [text: string] : [text: string, data: Data]): Said<Data>
  /** Ends the play with a refusal: the state stays as it was. */
  refuse(text: string): Refused
  /** Marks what private state is allowed to tell, and returns it. A mark for readers and checkers: nothing enforces it. */
  reveal<T extends Json>(value: T): T
  /**
   * Publishes an event of this world, as part of the step: it is applied once `play` has returned, after those that were
   * published before it, and the rewards judge the state after it. What it says is told in the answer to this very call
   * and to those who listen, and its `end` ends the episode; of several ends the first holds. A refused step publishes
   * nothing, and an event publishes none itself. At most 16 events a step. Throws `rules-failed` past them, for a type that
   * the world does not take, and for wrong data.
   */
  publish<Type extends keyof Events & string>(type: Type, data: z.input<Events[Type]['data']>): void
  /** Ends the episode by the rules, for a reason in the world's own words. */
  end(reason: string): void
  /** Moves virtual time forward. */
  elapse(milliseconds: number): void
}

/** What a reward term judges: one answered step. `before` and `after` are equal where the step was refused. */
export interface Transition<State, Params> {
  readonly before: State
  readonly after: State
  readonly tool: string
  /** The arguments as they were sent: checked unless `refused` says otherwise. */
  readonly input: JsonObject
  readonly params: Params
  readonly end: EpisodeEnd | null
  readonly refused: Refusal | null
  /**
   * Outside events since the step before, oldest first. `before` is the state after them, on which the action was played: what
   * an action did and what happened to the player are told apart. Empty where there were none.
   */
  readonly events: readonly Pick<RecordedEvent, 'type' | 'data' | 'said'>[]
}

/**
 * Which calls of a tool the rules accept: `true` for any that its input takes, a list of the arguments, or a schema that is
 * narrower than its input. A tool that is left out, and one with an empty list, cannot be called now.
 */
export type LegalCalls = true | readonly JsonObject[] | z.ZodType

/** What `success` gets: an episode that has ended. */
export interface FinalContext<State, Params> {
  readonly end: EpisodeEnd
  /** The whole state at the end, private part included. */
  readonly state: State
  readonly params: Params
}

/** What `apply` gets. */
export interface EventContext<State, Params, Data> {
  /** A draft to edit. Thrown away when `apply` throws. */
  readonly state: State
  readonly data: Data
  readonly params: Params
  readonly rng: Rng
  /** Virtual time in milliseconds: an event takes none unless it says so. */
  readonly now: number
  /**
   * Tells players what happened, with the answer to their next call, or to the one whose tool published it, and to those who
   * listen. At most 4,000 characters an event.
   */
  say(text: string): void
  /** Ends the episode by the rules. Where it came from outside, the next action is answered as its last step, and changes nothing. */
  end(reason: string): void
  /** Moves virtual time forward. */
  elapse(milliseconds: number): void
}

/** An event as its author writes it. */
export interface EventDefinition<State, Params, Data extends z.ZodType> {
  readonly description: string
  /** An object schema. What fails it never reaches `apply`. */
  readonly data: Data
  /** Synchronous rules over a draft. What it throws is a fault: nothing changes and the publisher is told. */
  apply(context: EventContext<State, Params, z.output<Data>>): void
}

/** Makes a type of events. Handed to `events`, because there the types of state and parameters are known. */
export type EventMaker<State, Params> = <Data extends z.ZodType>(
  definition: EventDefinition<State, Params, Data>,
) => WorldEvent<Data>

/** A type of events, its types erased but for that of its data: what the host applies. */
export interface WorldEvent<Data extends z.ZodType = z.ZodType> {
  readonly description: string
  readonly data: Data
  apply(context: EventContext<unknown, unknown, unknown>): void
}

/** The events of a world, by type. */
export type WorldEvents = { readonly [type: string]: WorldEvent }

/** A tool as its author writes it. */
export interface ToolDefinition<
  State,
  Params,
  Input extends z.ZodType,
  Output extends z.ZodType | undefined,
  Prepared extends z.ZodType | undefined = undefined,
  Events extends WorldEvents = WorldEvents,
> {
  readonly description: string
  /** An object schema. What fails it never reaches `play`. */
  readonly input: Input
  /**
   * Schema of the structured answer. Left out, the answer is the public state. Agents get it with two fields more,
   * `observation` and `episode_over`, so it may not declare these itself.
   */
  readonly output?: Output
  /**
   * Hints for MCP clients. Default: not read-only, not idempotent, destructive where `effect` is `external`, and open to
   * the world where the tool prepares its steps.
   */
  readonly annotations?: ToolAnnotations
  /** Schema of what `prepare` gives: plain JSON, with no transforms. What it does not declare is left out. */
  readonly prepared?: Prepared
  /**
   * Gets from outside what the rules need: a model's word, a page, another server's answer. Runs before `play`, for calls
   * alone that reach it; its result is recorded as an input of the step, so that replays and forks need nothing from
   * there. What it throws is a fault: nothing changes and the call fails. What can go wrong in the ordinary way is better
   * given as a result, for `play` to answer.
   *
   * Other calls of the session wait meanwhile. It may run again for one step: where its server stops, or its caller asks
   * again.
   */
  prepare?(context: PrepareContext<State, Params, z.output<Input>>): InputOf<Prepared> | Promise<InputOf<Prepared>>
  /** Seconds that `prepare` may take, at most a day; then the call fails. Default 30. */
  readonly prepareSeconds?: number
  /**
   * `external`: `prepare` does something outside that may not be done twice, such as a payment. Once begun it goes on, its
   * caller gone or not, and is not run again for its step. Where it throws or its server stops, whether it was done cannot be
   * known: that call is answered `outcome-unknown`, until another one has been played.
   */
  readonly effect?: 'external'
  /** Synchronous rules over a draft. What it throws is a fault: nothing changes and the call fails. */
  play(
    context: PlayContext<State, Params, z.output<Input>, DataOf<Output>, DataOf<Prepared>, Events>,
  ): Said<DataOf<Output>> | Refused
}

/** What a schema gives out: the data that `say` wants, or what was prepared; nothing where there is no schema. */
export type DataOf<Schema extends z.ZodType | undefined> = Schema extends z.ZodType ? z.output<Schema> : undefined

/** What a schema takes; nothing where there is none. */
export type InputOf<Schema extends z.ZodType | undefined> = Schema extends z.ZodType ? z.input<Schema> : never

/** Makes a tool. Handed to `tools`, because there the types of state, parameters and events are known. */
export type ToolMaker<State, Params, Events extends WorldEvents = WorldEvents> = <
  Input extends z.ZodType,
  Output extends z.ZodType | undefined = undefined,
  Prepared extends z.ZodType | undefined = undefined,
>(
  definition: ToolDefinition<State, Params, Input, Output, Prepared, Events>,
) => Tool

/** A tool of an environment, its types erased: what the host plays. */
export interface Tool {
  readonly description: string
  readonly input: z.ZodType
  readonly output: z.ZodType | null
  readonly annotations: ToolAnnotations
  /** `null` where the tool prepares nothing. */
  readonly preparation: Preparation | null
  play(context: PlayContext<unknown, unknown, unknown, unknown, unknown>): Said<unknown> | Refused
}

/** How a tool gets from outside what its rules need. */
export interface Preparation {
  readonly schema: z.ZodType
  readonly seconds: number
  readonly external: boolean
  prepare(context: PrepareContext<unknown, unknown, unknown>): unknown
}

/** What an author hands to `defineEnvironment`. */
export interface EnvironmentSpec<
  Params extends z.ZodType,
  Public extends z.ZodType,
  Private extends z.ZodType,
  Tools extends { readonly [name: string]: Tool },
  Events extends WorldEvents = WorldEvents,
  State = WorldState<z.output<Public>, z.output<Private>>,
> {
  /** Lower-case words joined by hyphens. */
  readonly name: string
  /** Semantic version. Another version may play differently; the same one never does. */
  readonly version: string
  readonly description: string
  /**
   * What one session of this world is called, such as `game`: MCP clients create, name and end one with `create_game`, the
   * argument `game_id` of every tool, and `destroy_game`. Default: the name of the world, with underscores.
   *
   * `false`: the world has its own tools alone. Each MCP session is one episode, so that only clients of versions before
   * 2026-07-28, which have sessions, can play it without a session URL.
   */
  readonly handle?: string | false
  readonly params: Params
  readonly state: { readonly public: Public; readonly private: Private }
  /** Budgets of every session. An opener can lower them, and can set those that are left out. */
  readonly limits?: LimitsRequest | ((params: z.output<Params>) => LimitsRequest)
  /** Bounds of what a session remembers of its own steps; left out, it remembers none. */
  readonly history?: HistoryBounds
  readonly start: NoInfer<(context: StartContext<z.output<Params>>) => State>
  /** Tells a player how the world stands. Sees the public state alone. */
  readonly observe: (state: z.output<Public>, params: z.output<Params>) => string
  /**
   * What may happen besides: a price that changes, a message that arrives. Told to a session with `publish`, from outside or
   * by a tool of its own. Written before `tools`, the data that a tool publishes are typed.
   */
  readonly events?: (make: { readonly event: EventMaker<NoInfer<State>, z.output<Params>> }) => Events
  readonly tools: (make: { readonly tool: ToolMaker<State, z.output<Params>, NoInfer<Events>> }) => Tools
  /**
   * Says which actions the rules accept in a public state, by tool. Pure, and it sees what `observe` sees. Trainers may ask for
   * it at any time, and the random policy plays nothing else. It only describes: the rules still refuse by themselves.
   */
  readonly legal?: (
    state: z.output<Public>,
    params: z.output<Params>,
  ) => { readonly [Name in keyof NoInfer<Tools>]?: LegalCalls }
  /** Named pure terms over one step, in the world's own unit of reward. */
  readonly rewards: {
    readonly [term: string]: (transition: Transition<NoInfer<State>, z.output<Params>>) => number
  }
  /** Φ: how far a state has come, in the unit of reward. Makes potential-based shaping possible. */
  readonly potential?: (state: NoInfer<State>, params: z.output<Params>) => number
  /**
   * Whether an episode that has ended so succeeded: a pure function of its end, the state there and the parameters. It is
   * asked once, when the episode ends by the rules, by a budget or by being closed. Trainers and reports get it; players do
   * not. Left out, the default rule holds (docs/writing-environments.md, "Success").
   */
  readonly success?: (final: FinalContext<NoInfer<State>, z.output<Params>>) => boolean
  /** Settings of `episodic check` and `checkWorld` for this world. Play does not depend on them. */
  readonly check?: {
    /**
     * Findings that are known and meant, each by its name as the report prints it, with the reason, such as
     * `{ 'start-narrows:word': 'The length of the word is on the board.' }`. A name without its part after the colon stands for all
     * of its kind. A waived finding is shown with its reason and fails nothing.
     */
    readonly waive?: Readonly<Record<string, string>>
  }
  /**
   * Texts that no answer to a player may hold while the world stands so, such as a word to be found: the server withholds
   * one that does. Asked after every step, so list no more what has been found out. At least 8 characters each, so that
   * none turns up by chance; shorter ones are not searched for. The session's seed and handles are secret by themselves.
   */
  readonly secrets?: (state: NoInfer<State>, params: z.output<Params>) => readonly string[]
}

/** An environment, its types erased: what a host serves. */
export interface EnvironmentDefinition<
  Tools extends { readonly [name: string]: Tool } = { readonly [name: string]: Tool },
> {
  readonly name: string
  readonly version: string
  readonly description: string
  /** `null` where the world has its own tools alone. */
  readonly handle: string | null
  readonly params: z.ZodType
  readonly paramsSchema: JsonObject
  readonly state: { readonly public: z.ZodType; readonly private: z.ZodType }
  readonly history: HistoryBounds | null
  readonly tools: Tools
  readonly toolInfos: readonly ToolInfo[]
  readonly events: WorldEvents
  readonly eventInfos: readonly EventInfo[]
  readonly terms: readonly string[]
  readonly hasPotential: boolean
  readonly hasSuccess: boolean
  /** Reasons why findings of a check are meant, by the names of the findings. */
  readonly waived: Readonly<Record<string, string>>
  readonly hasLegal: boolean
  limitsFor(params: unknown): LimitsRequest
  start(context: { readonly params: unknown; readonly rng: SavableRng }): WorldState<JsonObject, JsonObject>
  observe(state: JsonObject, params: unknown): string
  reward(term: string, transition: Transition<WorldState<JsonObject, JsonObject>, unknown>): number
  potential(state: WorldState<JsonObject, JsonObject>, params: unknown): number | null
  /**
   * The actions that the rules accept in a public state; those of every tool and its whole input where the world does not say.
   * Throws `rules-failed` for what is no such thing.
   */
  legal(state: JsonObject, params: unknown): LegalActions
  /** `undefined` where the world defines no success. Throws `rules-failed` for an answer that is no boolean. */
  success(final: FinalContext<WorldState<JsonObject, JsonObject>, unknown>): boolean | undefined
  secrets(state: SessionState, params: unknown): readonly string[]
}
