import type {
  EpisodeEnd,
  Guarantees,
  Json,
  JsonObject,
  LegalActions,
  LimitsRequest,
  Observation,
  RecordedEvent,
  Refusal,
  Rng,
  ToolAnnotations,
  ToolInfo,
} from '@episodic/protocol'
import type { EventInfo, ResourceInText, SavableRng } from '@episodic/protocol/internal'
import type { History, SessionState } from '@episodic/state'
import type { HistoryBounds } from '@episodic/state/internal'
import type { z } from 'zod'

/** The state of an environment: a part that players may see and a part that they may not. */
export interface WorldState<Public, Private> {
  public: Public
  private: Private
}

export interface StartContext<Params> {
  readonly params: Params
  readonly rng: Rng
}

/** The arguments of `say`. A tool that declares an output gives its data, with a text or alone. */
export type Saying<Data> = undefined extends Data ? [text: string] : [text: string, data: Data] | [data: Data]

/** A tool's answer, returned by `say`. */
export interface Said<Data> {
  readonly kind: 'said'
  /** Empty if the answer is data alone. */
  readonly text: string
  readonly data: Data
  /** The parts of the text that are resources of MCP. Default: none. */
  readonly resources?: readonly ResourceInText[]
}

/** A refused action, returned by `refuse`: nothing changes, but the step is answered and counts. */
export interface Refused {
  readonly kind: 'refused'
  readonly text: string
}

/** A value that is read-only at any depth, down to objects with arbitrary keys, where the type would not end. */
export type ReadOnly<T> = { [key: string]: never } extends T
  ? T
  : T extends object
    ? { readonly [Key in keyof T]: ReadOnly<T[Key]> }
    : T

export interface PrepareContext<State, Params, Input> {
  /** The state before the step, frozen. */
  readonly state: ReadOnly<State>
  readonly input: Input
  readonly params: Params
  /** Virtual time in milliseconds. */
  readonly now: number
  /**
   * A copy of the session's random streams at their position of now: what is drawn here moves no stream of the session,
   * so the next preparation draws the same again, unless the rules have drawn or the stream has another name.
   */
  readonly rng: Rng
  /**
   * Names the session: the same for all of its steps, and another for each fork. What is kept outside for a session,
   * such as a process or a browser, is kept by this name until `release` is called with it. If it is gone, throw
   * `new ServerError('session-lost', …)`: the call fails with `state-lost`, and the episode is void.
   */
  readonly session: string
  /** Whether the limit of steps ends the episode with this step. */
  readonly isLast: boolean
  /** Aborted after the tool's `prepareSeconds`, and when no client waits for the answer any more. */
  readonly signal: AbortSignal
  /** Reports progress to a client that waits and asked for it, and keeps nothing. `undefined` if nobody asked. */
  readonly report: ((message: string) => void) | undefined
}

export interface RulesContext<State, Params> {
  /** A draft to edit. It is discarded if the rules refuse the action, or throw. */
  readonly state: State
  readonly params: Params
  readonly rng: Rng
  /** Virtual time in milliseconds: 0 at the start, and moved only by `elapse`. */
  readonly now: number
  /** Moves virtual time forward. */
  elapse(milliseconds: number): void
}

/** The argument of `play`. */
export interface PlayContext<State, Params, Input, Data, Prepared = undefined, Events extends WorldEvents = WorldEvents>
  extends RulesContext<State, Params> {
  readonly input: Input
  /** What the tool's `prepare` returned; `undefined` if it has none. */
  readonly prepared: Prepared
  /** Earlier steps of the session; empty unless the environment sets `history`. */
  readonly history: History
  /** Answers the player. Models read text alone: data of an `output` follows as a line of JSON; see `dataFollows`. */
  say(...answer: Saying<Data>): Said<Data>
  /**
   * Adds a picture or a sound to the answer of this call, after its text: bytes or base64 of PNG, JPEG, GIF, WebP, WAV
   * or MP3, or of another `image/…` or `audio/…` type that is named. Players get it as a part of the answer of its own,
   * and the record keeps it. With a `uri` it is a resource of MCP, and may be a file of any type. At most 16 of an
   * answer, which has 1 MiB at most as JSON, with 4 bytes for 3 of these; a refused call shows none. Throws
   * `rules-failed` for anything else.
   */
  attach(data: Uint8Array | string, mimeType?: string, uri?: string): void
  /** Returns a refusal: the state does not change. */
  refuse(text: string): Refused
  /** Marks a private value as meant for the player, and returns it. For readers and checks: nothing enforces it. */
  reveal<T extends Json>(value: T): T
  /**
   * Publishes an event of this environment as part of the step. Events are applied in order after `play` has returned,
   * and rewards judge the state after them. What an event says is part of the answer to this call and is sent to
   * subscribers; its `end` ends the episode, and the first of several ends counts. A refused step publishes nothing,
   * and an event cannot publish others. At most 16 events a step. Throws `rules-failed` above that, for an unknown
   * type, and for wrong data.
   */
  publish<Type extends keyof Events & string>(type: Type, data: z.input<Events[Type]['data']>): void
  /** Terminates the episode, with a reason of the environment's own. */
  end(reason: string): void
}

/**
 * A call of an episode: with the arguments that its tool declares, and why it was refused, if it was. A step that the
 * server took for an absent player is one too.
 */
export type Call = {
  readonly seat: string
  readonly tool: string
  readonly arguments: JsonObject
  readonly refused: Refusal | null
}

/**
 * What a reward term judges: one answered step. `before` and `after` are equal if the step was refused.
 *
 * - `Absent`: what stands in place of the call where no one call led to the step.
 */
export interface Transition<State, Params, Absent = never> {
  readonly before: State
  readonly after: State
  readonly tool: string | Absent
  /** The arguments as sent: valid for the tool unless `refused` is `arguments`, `tool`, `time` or `ended`. */
  readonly input: JsonObject | Absent
  readonly params: Params
  /** The calls of the episode so far, oldest first, this one included. Needs `history: 'calls'` in the definition. */
  readonly calls: readonly Call[]
  /** How the episode ended by this step; in a game, for the seat that is rewarded. */
  readonly end: EpisodeEnd | null
  readonly refused: Refusal | null
  /**
   * Outside events since the previous step, oldest first. `before` is the state after them, on which the action was
   * played, so the effects of the action and of the events can be separated. Empty if there were none.
   */
  readonly events: readonly Pick<RecordedEvent, 'type' | 'data' | 'said'>[]
}

/**
 * A {@link Transition} that knows the tools of its environment. Where `tool` is compared with a name and `refused` with
 * `null` or `rules`, `input` has the type of that tool's input as it is sent, without defaults. `tool` may have another
 * name than it says if `refused` is `tool`, and is `absent` where the server took the last step for a player that had
 * left.
 */
export type KnownTransition<
  Step extends { readonly tool: string | null },
  Tools extends { readonly [name: string]: Tool },
> = Omit<Step, 'tool' | 'input' | 'refused'> & (KnownCall<Tools> | (null extends Step['tool'] ? NoCall : LeftCall))

type KnownCall<Tools extends { readonly [name: string]: Tool }> =
  | {
      readonly [Name in keyof Tools & string]: {
        readonly tool: Name
        readonly input: InputOrJson<Tools[Name]['input']>
        readonly refused: null | 'rules'
      }
    }[keyof Tools & string]
  | { readonly tool: keyof Tools & string; readonly input: JsonObject; readonly refused: Exclude<Refusal, 'rules'> }

/** The step that the server takes for the only player when it has left; of environments with `absent` alone. */
interface LeftCall {
  readonly tool: 'absent'
  /** `{ cause: 'left' }`. */
  readonly input: JsonObject
  readonly refused: null
}

/** What stands in place of the call where no one call led to the step. */
interface NoCall {
  readonly tool: null
  readonly input: null
  readonly refused: Refusal | null
}

/** What a schema takes; any JSON object if the schema is not known. */
export type InputOrJson<Schema extends z.ZodType> = unknown extends z.input<Schema> ? JsonObject : z.input<Schema>

/**
 * The calls of a tool that the rules accept: `true` for any valid input, a list of arguments, or a schema narrower than
 * the tool's input. A tool that is left out or has an empty list cannot be called now.
 */
export type LegalCalls = true | readonly JsonObject[] | z.ZodType

export interface FinalContext<State, Params> {
  readonly end: EpisodeEnd
  /** The whole state at the end, private part included. */
  readonly state: State
  readonly params: Params
  /** All calls of the episode, oldest first. Needs `history: 'calls'` in the definition. */
  readonly calls: readonly Call[]
}

export interface EventContext<State, Params, Data> extends RulesContext<State, Params> {
  readonly data: Data
  /** Sends a text to players, with the answer to their next call, and to subscribers. At most 4,000 characters. */
  say(text: string): void
  /** Terminates the episode. If the event came from outside, the next action is its last step and changes nothing. */
  end(reason: string): void
}

/** An event as its author writes it. */
export interface EventDefinition<State, Params, Data extends z.ZodType> {
  readonly description: string
  /** An object schema. Invalid data is rejected before `apply`. */
  readonly data: Data
  /** Synchronous rules over a draft. An error is a fault: nothing changes, and publishing fails. */
  apply(context: EventContext<State, Params, z.output<Data>>): void
}

/** Defines a type of events. An argument of `events`, which knows the types of state and parameters. */
export type EventMaker<State, Params> = <Data extends z.ZodType>(
  definition: EventDefinition<State, Params, Data>,
) => WorldEvent<Data>

/** A type of events with all types erased but that of its data, as the host applies it. */
export interface WorldEvent<Data extends z.ZodType = z.ZodType> {
  readonly description: string
  readonly data: Data
  apply(context: EventContext<unknown, unknown, unknown>): void
}

export type WorldEvents = { readonly [type: string]: WorldEvent }

/** A tool as its author writes it, without its rules. */
export interface ToolParts<
  State,
  Params,
  Input extends z.ZodType,
  Output extends z.ZodType | undefined,
  Prepared extends z.ZodType | undefined,
> {
  readonly description: string
  /** An object schema. Invalid arguments are refused before `play`. */
  readonly input: Input
  /**
   * Schema of the structured answer. Default: the public state, and in a game what the seat sees, `{ seat, turn,
   * ...public, own }`. Agents receive two more fields, `observation` and `episode_over`, so the schema may not declare
   * these.
   */
  readonly output?: Output
  /**
   * Whether the data of an answer follows its text as a line of JSON, for models, which read text alone. `false` where
   * the text says all of the data that a player needs. Default: `true` with an `output`; without one, nothing follows.
   */
  readonly dataFollows?: boolean
  /**
   * Hints for MCP clients. Default: not read-only, not idempotent, destructive if `effect` is `external`, and
   * open-world if the tool has `prepare`.
   */
  readonly annotations?: ToolAnnotations
  /** Schema of what `prepare` returns: plain JSON, without transforms. Undeclared keys are dropped. */
  readonly prepared?: Prepared
  /**
   * Fetches what the rules need from outside: a model's answer, a web page, another server's result. Runs before
   * `play`, and only for calls that reach `play`. Its result is recorded as an input of the step, so replays and forks
   * fetch nothing. An error is a fault: nothing changes and the call fails. Return expected failures as a result, for
   * `play` to answer.
   *
   * Other calls of the session wait meanwhile. It may run more than once for a step: after a restart of the server, or
   * if the caller repeats the call.
   */
  prepare?(context: PrepareContext<State, Params, z.output<Input>>): InputOf<Prepared> | Promise<InputOf<Prepared>>
  /** The seconds that `prepare` may take before the call fails; at most a day. Default 30. */
  readonly prepareSeconds?: number
  /**
   * `external`: `prepare` has an effect that must not happen twice, for example a payment. Once started it runs to its
   * end even if the caller disconnects, and is not repeated for its step. If it throws or the server stops, the effect
   * may or may not have happened: the call is answered `outcome-unknown` until another call has been played.
   */
  readonly effect?: 'external'
  /**
   * Says that `prepare` has no effect and returns the same for the same context, on every machine at any time, for
   * example a program that runs over files of the state. Then `episodic check` calls it, as often as it needs. Default:
   * `episodic check` skips what it cannot show without calling it.
   */
  readonly repeatable?: true
}

/** A tool as its author writes it. */
export interface ToolDefinition<
  State,
  Params,
  Input extends z.ZodType,
  Output extends z.ZodType | undefined,
  Prepared extends z.ZodType | undefined = undefined,
  Events extends WorldEvents = WorldEvents,
> extends ToolParts<State, Params, Input, Output, Prepared> {
  /** Synchronous rules over a draft. An error is a fault: nothing changes and the call fails. */
  play(
    context: PlayContext<State, Params, z.output<Input>, DataOf<Output>, DataOf<Prepared>, Events>,
  ): Said<DataOf<Output>> | Refused
}

/** The output of a schema: the data for `say`, or what was prepared. `undefined` without a schema. */
export type DataOf<Schema extends z.ZodType | undefined> = Schema extends z.ZodType ? z.output<Schema> : undefined

/** The input of a schema; `never` without one. */
export type InputOf<Schema extends z.ZodType | undefined> = Schema extends z.ZodType ? z.input<Schema> : never

/** Defines a tool. An argument of `tools`, which knows the types of state, parameters and events. */
export type ToolMaker<State, Params, Events extends WorldEvents = WorldEvents> = <
  Input extends z.ZodType,
  Output extends z.ZodType | undefined = undefined,
  Prepared extends z.ZodType | undefined = undefined,
>(
  definition: ToolDefinition<State, Params, Input, Output, Prepared, Events>,
) => Tool<NoInfer<Input>, Output extends z.ZodType ? NoInfer<Output> : null>

/** A tool of an environment with its types erased but for its schemas, as the host plays it. */
export interface Tool<Input extends z.ZodType = z.ZodType, Output extends z.ZodType | null = z.ZodType | null> {
  readonly description: string
  readonly input: Input
  readonly output: Output
  /** Whether the data of an answer follows its text as a line of JSON. */
  readonly dataFollows: boolean
  readonly annotations: ToolAnnotations
  /** `null` if the tool has no `prepare`. */
  readonly preparation: Preparation | null
  /** The seats that have it; `null` for every seat. */
  readonly seats: readonly string[] | null
  /** Whether its moves are sealed until every seat in turn has moved. */
  readonly sealed: boolean
  play(context: PlayContext<unknown, unknown, unknown, unknown, unknown>): Said<unknown> | Refused
}

/** How a tool fetches what its rules need from outside. */
export interface Preparation {
  readonly schema: z.ZodType
  readonly seconds: number
  readonly external: boolean
  /** Whether it has no effect and returns the same for the same state, input, parameters, time and chance. */
  readonly repeatable: boolean
  prepare(context: PrepareContext<unknown, unknown, unknown>): unknown
}

/**
 * What the arguments of `defineEnvironment` and `defineGame` have in common.
 *
 * - `Seen`: what `observe` and `legal` get: the public state, or what one seat sees.
 * - `Step` and `Final`: what reward terms and `success` get.
 * - `Seats`: what functions over the whole state get as well, which is the seat that they are for in a game.
 */
export interface CommonSpec<
  Params extends z.ZodType,
  Tools,
  State,
  Seen,
  Step,
  Final,
  Seats extends readonly string[] = [],
  Term extends string = string,
> {
  /** Lower-case words joined by hyphens. */
  readonly name: string
  /** Semantic version. Another version may play differently; the same one never does. */
  readonly version: string
  readonly description: string
  /** Schema of what a task may set. Default: no parameters. */
  readonly params?: Params
  /**
   * Limits of every session. An opener can lower them, and can set those that are left out. In a game, `steps` counts
   * for each seat by itself, and `turnSeconds` is for one turn.
   */
  readonly limits?: LimitsRequest | ((params: z.output<Params>) => LimitsRequest)
  /**
   * Bounds of the history of its own steps, those of all seats, that a session keeps. `'calls'`: every {@link Call} of
   * the episode, which reward terms and `success` then get as `calls`. Default: no history.
   */
  readonly history?: HistoryBounds
  /**
   * The tool that an answer of a language model without a call is, with its words as the only argument. The model is
   * not offered it; others call it as any tool. Default: an answer without a call is a mistake.
   */
  readonly speech?: keyof NoInfer<Tools> & string
  /** What seats have said before their first move: a language model has it as its own first words. Default: nothing. */
  readonly greetings?: { readonly [seat: string]: string }
  /**
   * Whether all calls of one answer of a language model are played, in their order. `false`: it is asked for one, since
   * the next depends on what this one shows. Default: `true` with one seat, and `false` with several.
   */
  readonly parallelToolCalls?: boolean
  readonly start: NoInfer<(context: StartContext<z.output<Params>>) => State>
  /** Returns the observation text of a public state, or of what one seat sees. */
  readonly observe: (seen: Seen, params: z.output<Params>) => string
  /**
   * Returns the legal actions in a public state, or of the seat that sees this, by tool. Pure, with the arguments of
   * `observe`. Trainers may request it at any time, and the random policy plays only legal actions. It only describes:
   * the rules still refuse by themselves. Default: every valid input.
   */
  readonly legal?: (seen: Seen, params: z.output<Params>) => { readonly [Name in keyof NoInfer<Tools>]?: LegalCalls }
  /**
   * Returns the names of the tools that a player has in a state: in a game, of those of the seat. Pure. A tool that is
   * not among them is refused as an unknown one is, and is in no list of tools. Keep one until the end. What is offered
   * is shown to players, so it gives away what it depends on. Default: all.
   */
  readonly offers?: (state: NoInfer<State>, params: z.output<Params>, ...seat: Seats) => readonly string[]
  /**
   * Named pure reward terms over one step, in the environment's own unit; in a game, for one seat. Write `tools` before
   * `rewards`, so that the terms know their names and inputs.
   */
  readonly rewards: { readonly [Name in Term]: (transition: Step) => number }
  /** The potential Φ of a state, in the unit of reward, for potential-based shaping; in a game, for one seat. */
  readonly potential?: (state: NoInfer<State>, params: z.output<Params>, ...seat: Seats) => number
  /**
   * Returns whether an ended episode succeeded: a pure function of its end, last state, parameters and calls. Called
   * once, when the episode is terminated, truncated or closed; in a game, when it has ended for the seat. Trainers and
   * reports receive the result; players do not. Default: see docs/write/environments.md, "Success".
   */
  readonly success?: (final: Final) => boolean
  /**
   * Further judgements of an ended episode, by their names, such as whether an attack failed: each as `success`, called
   * with the same. Reports give each a rate with its interval. No verdict changes a success or a reward.
   */
  readonly verdicts?: { readonly [name: string]: (final: Final) => boolean }
  /**
   * Drops what `prepare` keeps outside for a session, by its name: called when the episode has ended, when the session
   * was closed or has expired, and when the server stops, which waits for it. May be called for sessions that keep
   * nothing, and more than once. An error is reported as a fault of the environment.
   */
  readonly release?: (session: string) => void | Promise<void>
  /** Whether sessions can be forked. Default: unless there is `release`: a fork has nothing of what is outside. */
  readonly forkable?: boolean
  /**
   * What holds for sessions of which a part is outside. Runs say it. Default: steps happen exactly once, all chance
   * comes from the seed, and any process may play the next step.
   */
  readonly guarantees?: Guarantees
  /**
   * What the definition was made of that its module does not have, such as the tools that a server listed. Runs keep it
   * beside their lines, and give it back while the module is loaded to replay them. Default: nothing.
   */
  readonly madeOf?: JsonObject
  /** Settings of `episodic check` and `checkWorld` for this environment. They do not affect play. */
  readonly check?: {
    /**
     * Known and intended findings, by the name that the report prints, each with the reason: for example `{
     * 'start-narrows:word': 'The length of the word is on the board.' }`. A name without the part after the colon
     * covers all findings of its kind. A waived finding is shown with its reason and does not fail the check.
     */
    readonly waive?: Readonly<Record<string, string>>
  }
  /**
   * Paths of the private state that players may read through tools, such as `'db'` or `'db.orders'`: for all seats, or
   * by seat. `episodic check` then asks about the rest, and about seats that may not. It does not affect play. Default:
   * none, so that everything private that an answer says has to go through `reveal`.
   */
  readonly readable?: readonly string[] | { readonly [seat: string]: readonly string[] }
  /**
   * Strings that must not appear in any response to players, or to one seat, in this state, for example a word to be
   * guessed. A response that contains one is withheld. Called after every step, so leave out what the player has found
   * out. Strings under 8 characters are not searched for, since they appear by chance. The session's seed and handles
   * are always secret.
   */
  readonly secrets?: (state: NoInfer<State>, params: z.output<Params>, ...seat: Seats) => readonly string[]
}

/** The argument of `defineEnvironment`. */
export interface EnvironmentSpec<
  Params extends z.ZodType,
  Public extends z.ZodType,
  Private extends z.ZodType,
  Tools extends { readonly [name: string]: Tool },
  Events extends WorldEvents = WorldEvents,
  Term extends string = string,
  State = WorldState<z.output<Public>, z.output<Private>>,
> extends CommonSpec<
    Params,
    Tools,
    State,
    z.output<Public>,
    KnownTransition<Transition<NoInfer<State>, z.output<Params>>, NoInfer<Tools>>,
    FinalContext<NoInfer<State>, z.output<Params>>,
    [],
    Term
  > {
  /**
   * The noun for one session, for example `game`: MCP clients create, address and end one with `create_game`, the
   * argument `game_id` of every tool, and `destroy_game`. Default: the name of the environment, with underscores.
   *
   * `false`: no such tools are added. Each MCP session is one episode, so only clients of MCP versions before
   * 2026-07-28, which have sessions, can play without a session URL.
   */
  readonly handle?: string | false
  readonly state: { readonly public: Public; readonly private: Private }
  /**
   * External events, for example a price that changes or a message that arrives. They are published to a session, from
   * outside or by its own tools. Write `events` before `tools`, so that the data that tools publish are typed.
   */
  readonly events?: (make: { readonly event: EventMaker<NoInfer<State>, z.output<Params>> }) => Events
  readonly tools: (make: { readonly tool: ToolMaker<State, z.output<Params>, NoInfer<Events>> }) => Tools
  /**
   * A tool that no player has. The server calls it where the player leaves before the end, or comes too late for the
   * limit of time, so that what it has left can be judged; the episode stays truncated. Default: the episode ends as it
   * stands, as it does for `null`.
   */
  readonly absent?: (make: { readonly tool: ToolMaker<State, z.output<Params>, NoInfer<Events>> }) => Tool | null
}

/** An environment as a host serves it, with most types erased. Returned by `defineEnvironment`. */
export interface EnvironmentDefinition<
  Tools extends { readonly [name: string]: Tool } = { readonly [name: string]: Tool },
  Public extends z.ZodType = z.ZodType,
  Params extends z.ZodType = z.ZodType,
  Private extends z.ZodType = z.ZodType,
  Term extends string = string,
> {
  readonly name: string
  readonly version: string
  readonly description: string
  /** `null` if no tools for creating and ending sessions are added. */
  readonly handle: string | null
  readonly params: Params
  readonly paramsSchema: JsonObject
  /** `own` is the schema of the part that each seat alone may see; `null` with one seat. */
  readonly state: { readonly public: Public; readonly private: Private; readonly own: z.ZodType | null }
  readonly history: HistoryBounds | null
  /** Whether a language model plays all calls of an answer, and what seats have said; see {@link CommonSpec}. */
  readonly parallelToolCalls?: boolean
  readonly greetings?: { readonly [seat: string]: string }
  /** All seats, in order: `agent` alone, unless `defineGame` declares them. */
  readonly seats: readonly string[]
  /** Whether there are several seats: then reports and records say what each of them earns, sees and may do. */
  readonly multiplayer: boolean
  /** How the rewards of the seats are related in every step; `general` with one seat. */
  readonly utility: Utility
  /** What each of several seats sees as data, as JSON Schema 2020-12; `null` with one, which sees the public state. */
  readonly viewSchema: JsonObject | null
  readonly tools: Tools
  /** What the server calls for an absent seat, and for the only player that has left or is late; `null` for nothing. */
  readonly absent: Tool | null
  /** Plays a round whose moves are all sealed; `null` if no tool is sealed. */
  readonly settle: ((context: object) => void) | null
  readonly toolInfos: readonly ToolInfo[]
  readonly events: WorldEvents
  readonly eventInfos: readonly EventInfo[]
  readonly terms: readonly Term[]
  readonly hasPotential: boolean
  readonly hasSuccess: boolean
  readonly verdictNames: readonly string[]
  /** `null` if nothing is kept outside for a session. */
  readonly release: ((session: string) => unknown) | null
  readonly forkable: boolean
  /** What holds for sessions of which a part is outside; `null` for an environment without one. */
  readonly guarantees: Guarantees | null
  /** What the definition was made of that its module does not have; `null` if it has everything. */
  readonly madeOf: JsonObject | null
  /** Reasons for intended findings of a check, by the names of the findings. */
  readonly waived: Readonly<Record<string, string>>
  /** Paths of the private state that each seat may read through tools. */
  readonly readable: { readonly [seat: string]: readonly string[] }
  readonly hasLegal: boolean
  limitsFor(params: unknown): LimitsRequest
  /** Returns the seats of an episode, in order. Throws `rules-failed` for a seat that there is not, and for none. */
  present(params: unknown): readonly string[]
  /** Returns the seats that may act, in order. Throws `rules-failed` for a seat that there is not. */
  turn(state: SessionState, params: unknown): readonly string[]
  start(context: { readonly params: unknown; readonly rng: SavableRng }): SessionState
  /** Returns what a seat sees of a state, and the tools that it has there. */
  observe(state: SessionState, params: unknown, seat: string): Observation
  /** Returns the value of every term for a seat and a step. Throws `rules-failed` if one is no finite number. */
  rewards(transition: StateTransition, seat: string): Readonly<Record<string, number>>
  potential(state: SessionState, params: unknown, seat: string): number | null
  /**
   * Returns the legal actions of a seat in a state; every valid input of every tool if the environment defines no
   * `legal`. Throws `rules-failed` if the author's `legal` returns anything else.
   */
  legal(state: SessionState, params: unknown, seat: string): LegalActions
  /**
   * Returns the names of the tools that a seat has in a state, in the order of the definition; `undefined` for all of
   * the seat. `null` if that never changes. Throws `rules-failed` for a tool that the seat does not have.
   */
  readonly offers: ((state: SessionState, params: unknown, seat: string) => readonly string[] | undefined) | null
  /** `undefined` if the environment defines no success. Throws `rules-failed` if its function returns no boolean. */
  success(final: FinalContext<SessionState, unknown>, seat: string): boolean | undefined
  /** Returns every further verdict. Throws `rules-failed` if one is no boolean. */
  verdicts(final: FinalContext<SessionState, unknown>, seat: string): Readonly<Record<string, boolean>>
  /** Returns the texts that a seat must not be shown; `null` if the environment lists none. */
  readonly secrets: ((state: SessionState, params: unknown, seat: string) => readonly string[]) | null
}

/** A step as reward terms judge it, of a seat or of several at once. */
export interface StateTransition extends Transition<SessionState, unknown, null> {
  readonly moved: readonly string[]
}

/** How the rewards of the seats of a game are related in every step; see `defineGame`. */
export type Utility = 'zero-sum' | 'common' | 'general'
