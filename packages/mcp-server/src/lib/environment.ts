import type {
  EpisodeEnd,
  Json,
  JsonObject,
  LimitsRequest,
  Refusal,
  Rng,
  SavableRng,
  ToolInfo,
} from '@episodic/protocol'
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

/** What `play` gets. */
export interface PlayContext<State, Params, Input, Data> {
  /** A draft to edit. Thrown away when the action is refused or `play` throws. */
  readonly state: State
  readonly input: Input
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
}

/** A tool as its author writes it. */
export interface ToolDefinition<State, Params, Input extends z.ZodType, Output extends z.ZodType | undefined> {
  readonly description: string
  /** An object schema. What fails it never reaches `play`. */
  readonly input: Input
  /** Schema of the structured answer. Left out, the answer is the public state. */
  readonly output?: Output
  /** Synchronous rules over a draft. What it throws is a fault: nothing changes and the call fails. */
  play(context: PlayContext<State, Params, z.output<Input>, DataOf<Output>>): Said<DataOf<Output>> | Refused
}

/** The data that `say` wants: what the output schema describes, or nothing. */
export type DataOf<Output extends z.ZodType | undefined> = Output extends z.ZodType ? z.output<Output> : undefined

/** Makes a tool. Handed to `tools`, because there the types of state and parameters are known. */
export type ToolMaker<State, Params> = <Input extends z.ZodType, Output extends z.ZodType | undefined = undefined>(
  definition: ToolDefinition<State, Params, Input, Output>,
) => Tool

/** A tool of an environment, its types erased: what the host plays. */
export interface Tool {
  readonly description: string
  readonly input: z.ZodType
  readonly output: z.ZodType | null
  play(context: PlayContext<unknown, unknown, unknown, unknown>): Said<unknown> | Refused
}

/** What an author hands to `defineEnvironment`. */
export interface EnvironmentDefinition<
  Params extends z.ZodType,
  Public extends z.ZodType,
  Private extends z.ZodType,
  Tools extends { readonly [name: string]: Tool },
  State = WorldState<z.output<Public>, z.output<Private>>,
> {
  /** Lower-case words joined by hyphens. */
  readonly name: string
  /** Semantic version. Another version may play differently; the same one never does. */
  readonly version: string
  readonly description: string
  /**
   * What a session is called, such as `game`: a client of MCP 2026-07-28, which has no session of its own, then makes,
   * names and ends one with `create_game`, the argument `game_id` of every tool, and `destroy_game`. Left out, such a
   * client plays at a session URL alone.
   */
  readonly handle?: string
  readonly params: Params
  readonly state: { readonly public: Public; readonly private: Private }
  /** Budgets of every session. An opener can lower them, and can set those that are left out. */
  readonly limits?: LimitsRequest | ((params: z.output<Params>) => LimitsRequest)
  /** Bounds of what a session remembers of its own steps; left out, it remembers none. */
  readonly history?: HistoryBounds
  readonly start: (context: StartContext<z.output<Params>>) => NoInfer<State>
  /** Tells a player how the world stands. Sees the public state alone. */
  readonly observe: (state: z.output<Public>, params: z.output<Params>) => string
  readonly tools: (make: { readonly tool: ToolMaker<State, z.output<Params>> }) => Tools
  /** Named pure terms over one step, in the world's own unit of reward. */
  readonly rewards: {
    readonly [term: string]: (transition: Transition<NoInfer<State>, z.output<Params>>) => number
  }
  /** Φ: how far a state has come, in the unit of reward. Makes potential-based shaping possible. */
  readonly potential?: (state: NoInfer<State>, params: z.output<Params>) => number
  /**
   * Texts that no answer to a player may hold while the world stands so, such as a word to be found: the server withholds
   * one that does. Asked after every step, so list no more what has been found out. At least 8 characters each, so that
   * none turns up by chance; shorter ones are not searched for. The session's seed and handles are secret by themselves.
   */
  readonly secrets?: (state: NoInfer<State>, params: z.output<Params>) => readonly string[]
}

/** An environment, its types erased: what a host serves. */
export interface Environment<Tools extends { readonly [name: string]: Tool } = { readonly [name: string]: Tool }> {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly handle: string | null
  readonly params: z.ZodType
  readonly paramsSchema: JsonObject
  readonly state: { readonly public: z.ZodType; readonly private: z.ZodType }
  readonly history: HistoryBounds | null
  readonly tools: Tools
  readonly toolInfos: readonly ToolInfo[]
  readonly terms: readonly string[]
  readonly hasPotential: boolean
  limitsFor(params: unknown): LimitsRequest
  start(context: { readonly params: unknown; readonly rng: SavableRng }): WorldState<JsonObject, JsonObject>
  observe(state: JsonObject, params: unknown): string
  reward(term: string, transition: Transition<WorldState<JsonObject, JsonObject>, unknown>): number
  potential(state: WorldState<JsonObject, JsonObject>, params: unknown): number | null
  secrets(state: SessionState, params: unknown): readonly string[]
}
