import type { Json, ToolAnnotations } from '@episodic/protocol'
import type { History } from '@episodic/state'
import type { z } from 'zod'
import type { Absence } from './absent-action.ts'
import type {
  CommonSpec,
  DataOf,
  EventContext,
  EventDefinition,
  FinalContext,
  KnownTransition,
  ReadOnly,
  Refused,
  RulesContext,
  Said,
  Saying,
  Tool,
  ToolParts,
  Transition,
  Utility,
  WorldEvent,
  WorldEvents,
} from './environment.ts'

/** The state of a game: what all see, what each seat alone sees, and what nobody sees. */
export interface GameState<Seat extends string, Public, Own, Private> {
  public: Public
  own: Record<Seat, Own>
  private: Private
}

/** What one seat sees. `observe` and `legal` get nothing else, so they cannot show a seat what it must not know. */
export interface SeatView<Seat extends string, Public, Own> {
  readonly seat: Seat
  readonly public: ReadOnly<Public>
  readonly own: ReadOnly<Own>
}

/** What rules know of the episode, and can do to other seats and to it. */
export interface TableContext<
  Seat extends string,
  Others extends string = never,
  Events extends WorldEvents = WorldEvents,
> {
  /** Earlier steps of all seats; empty unless the game sets `history`. */
  readonly history: History
  /** Marks a value as meant for some seats (default: all), and returns it. For readers and checks: not enforced. */
  reveal<T extends Json>(value: T, to?: Seat | readonly Seat[]): T
  /**
   * Sends a text to seats, with their next answer: to one, to several, or to `others` than the seat that moves. At most
   * 4,000 characters each; of more than 64 between two steps of a seat the oldest are dropped. What a seat must know
   * belongs in the state: a client may miss a text.
   */
  send(to: Seat | Others | readonly Seat[], text: string): void
  /**
   * Publishes an event of this game as part of the step, as `publish` of a {@link PlayContext} does: what it says is
   * part of the next answer of each seat.
   */
  publish<Type extends keyof Events & string>(type: Type, data: z.input<Events[Type]['data']>): void
  /** Terminates the episode for one seat. When all have left, it is over, with the reason `all-left`. */
  leave(seat: Seat, reason: string): void
  /** Terminates the episode for every seat, with a reason of the environment's own. */
  end(reason: string): void
}

/** The argument of a tool's `play`. */
export interface MoveContext<
  Seat extends string,
  State,
  Params,
  Input,
  Data,
  Prepared = undefined,
  Events extends WorldEvents = WorldEvents,
> extends TableContext<SeatOf<State>, 'others', Events>,
    RulesContext<State, Params> {
  readonly seat: Seat
  /** The other seats of the episode that have not left, in order. */
  readonly others: readonly SeatOf<State>[]
  readonly input: Input
  /** What the tool's `prepare` returned; `undefined` if it has none. */
  readonly prepared: Prepared
  /** Returns an answer to the seat that moves, as `say` of a {@link PlayContext} does. */
  say(...answer: Saying<Data>): Said<Data>
  /** Adds a picture or a sound to the answer of the seat that moves, as `attach` of a {@link PlayContext} does. */
  attach(data: Uint8Array | string, mimeType?: string): void
  /** Returns a refusal: the state does not change. */
  refuse(text: string): Refused
}

export type SeatOf<State> = State extends { own: Record<infer Seat extends string, unknown> } ? Seat : string

/** The argument of a sealed tool's `play`: it may change what its own seat holds, and nothing else. */
export interface SealedContext<Seat extends string, Public, Own, Params, Input> {
  readonly seat: Seat
  /** What all see, frozen. */
  readonly public: ReadOnly<Public>
  /** A draft of what this seat alone sees. It is discarded if the move is refused. */
  readonly own: Own
  readonly input: Input
  readonly params: Params
  /** Returns a refusal: nothing changes, and the seat may move again. */
  refuse(text: string): Refused
}

/** The argument of `settle`. Clear in `own` what the sealed moves left there, if the next round needs it clear. */
export interface SettleContext<State, Params, Seat extends string, Events extends WorldEvents = WorldEvents>
  extends TableContext<Seat, never, Events>,
    RulesContext<State, Params> {
  /** The seats that have moved, in order. */
  readonly moved: readonly Seat[]
}

export interface AbsentContext<State, Params, Seat extends string, Events extends WorldEvents = WorldEvents>
  extends TableContext<Seat, never, Events>,
    RulesContext<State, Params> {
  /** The seat that does not act. */
  readonly seat: Seat
  /**
   * `turn-limit`: its time for the turn is over, and it may still go on with a later turn. `step-limit`: it has no
   * steps left. `left`: the opener of the session says that its player has left. In the last two cases it is out after
   * this call, whatever the rules do.
   */
  readonly cause: Absence
}

/**
 * The argument of a reward term: one answered step, as one seat is rewarded for it. `tool` is what the only seat of
 * `moved` called, with `input`. Both are `null` for a round of sealed moves, and for a seat that did not act.
 */
export interface SeatTransition<Seat extends string, State, Params> extends Transition<State, Params, null> {
  /** The seat that is rewarded. Every seat that has not left is asked for at every step. */
  readonly seat: Seat
  /** The seats that moved: one, or every seat of a round whose moves were sealed. */
  readonly moved: readonly Seat[]
}

export interface GameEventContext<Seat extends string, State, Params, Data> extends EventContext<State, Params, Data> {
  /** Sends a text to some seats alone, with their next answers (`say`: to all): at most 4,000 characters. */
  send(to: Seat | readonly Seat[], text: string): void
}

export interface GameEventDefinition<Seat extends string, State, Params, Data extends z.ZodType>
  extends Omit<EventDefinition<State, Params, Data>, 'apply'> {
  /**
   * Synchronous rules over a draft. An error is a fault: nothing changes, and publishing fails. It may change whose
   * turn it is, but not while moves of a round are sealed.
   */
  apply(context: GameEventContext<Seat, State, Params, z.output<Data>>): void
}

/** Defines a type of events of a game. An argument of `events`, which knows the types of seats, state and params. */
export type GameEventMaker<Seat extends string, State, Params> = <Data extends z.ZodType>(
  definition: GameEventDefinition<Seat, State, Params, Data>,
) => WorldEvent<Data>

/** The argument of `success`: an episode that has ended for a seat. */
export interface FinalSeatContext<Seat extends string, State, Params> extends FinalContext<State, Params> {
  readonly seat: Seat
}

export interface GameToolDefinition<
  Seat extends string,
  State,
  Params,
  Input extends z.ZodType,
  Output extends z.ZodType | undefined,
  Prepared extends z.ZodType | undefined,
  Events extends WorldEvents = WorldEvents,
> extends ToolParts<State, Params, Input, Output, Prepared> {
  /** The seats that have it. Default: all. */
  readonly seats?: readonly Seat[]
  /** Synchronous rules over a draft. An error is a fault: nothing changes and the call fails. */
  play(
    context: MoveContext<Seat, State, Params, z.output<Input>, DataOf<Output>, DataOf<Prepared>, Events>,
  ): Said<DataOf<Output>> | Refused
}

/** Defines a tool of a game. An argument of `tools`, which knows the types of seats, state, parameters and events. */
export type GameToolMaker<AllSeats extends string, State, Params, Events extends WorldEvents = WorldEvents> = <
  Input extends z.ZodType,
  Output extends z.ZodType | undefined = undefined,
  Prepared extends z.ZodType | undefined = undefined,
  const Seat extends AllSeats = AllSeats,
>(
  definition: GameToolDefinition<Seat, State, Params, Input, Output, Prepared, Events>,
) => Tool<NoInfer<Input>, Output extends z.ZodType ? NoInfer<Output> : null>

/** A tool whose moves are sealed, as its author writes it. */
export interface SealedToolDefinition<Seat extends string, Public, Own, Params, Input extends z.ZodType> {
  /** The seats that have it. Default: all. */
  readonly seats?: readonly Seat[]
  readonly description: string
  /** An object schema. Invalid arguments are refused before `play`. */
  readonly input: Input
  readonly annotations?: ToolAnnotations
  /** Synchronous rules over what the seat alone sees. An error is a fault: nothing changes and the call fails. */
  play(context: SealedContext<Seat, Public, Own, Params, z.output<Input>>): Refused | undefined
}

/** Defines a tool whose moves are sealed until every seat in turn has moved; `settle` then plays the round. */
export type SealedToolMaker<AllSeats extends string, Public, Own, Params> = <
  Input extends z.ZodType,
  const Seat extends AllSeats = AllSeats,
>(
  definition: SealedToolDefinition<Seat, Public, Own, Params, Input>,
) => Tool<NoInfer<Input>, null>

/** The argument of `defineGame`. */
export interface GameSpec<
  Seat extends string,
  Params extends z.ZodType,
  Public extends z.ZodObject,
  Own extends z.ZodObject,
  Private extends z.ZodType,
  Tools extends { readonly [name: string]: Tool },
  Events extends WorldEvents = WorldEvents,
  Term extends string = string,
  State = GameState<Seat, z.output<Public>, z.output<Own>, z.output<Private>>,
> extends CommonSpec<
    Params,
    Tools,
    State,
    SeatView<Seat, z.output<Public>, z.output<Own>>,
    KnownTransition<SeatTransition<NoInfer<Seat>, NoInfer<State>, z.output<Params>>, NoInfer<Tools>>,
    FinalSeatContext<NoInfer<Seat>, NoInfer<State>, z.output<Params>>,
    [seat: NoInfer<Seat>],
    Term
  > {
  /** The names of the seats, in order: 2 to 36 of lower-case words joined by hyphens or underscores. */
  readonly seats: readonly Seat[]
  /**
   * How the rewards of the seats are related in every step: they add up to 0 (`zero-sum`), every seat that plays earns
   * the same (`common`), or neither (`general`). Describes only; `episodic check` holds the rules to it. Default:
   * `general`.
   */
  readonly utility?: Utility
  /** Returns the seats of an episode. Default: all. */
  readonly present?: (params: z.output<Params>) => readonly Seat[]
  readonly state: {
    /** What all seats see. `seat`, `turn` and `own` are fields of every view, so it may not declare them. */
    readonly public: Public
    /** What each seat alone sees: one schema for all, so what only some have is optional in it. */
    readonly own: Own
    /** What no seat sees. */
    readonly private: Private
  }
  /**
   * Returns the seat or seats that may act, from what all see, so that the turn gives nothing away. Seats that have
   * left are left out of it; before the end there has to be another.
   */
  readonly turn: (
    state: ReadOnly<z.output<Public>>,
    params: z.output<Params>,
  ) => NoInfer<Seat> | readonly NoInfer<Seat>[]
  /**
   * External events, as `events` of `defineEnvironment`: published to a session by its opener, or by the rules of a
   * step. Write `events` before `tools`, so that the data that tools publish are typed.
   */
  readonly events?: (make: {
    readonly event: GameEventMaker<NoInfer<Seat>, NoInfer<State>, z.output<Params>>
  }) => Events
  readonly tools: (make: {
    readonly tool: GameToolMaker<NoInfer<Seat>, State, z.output<Params>, NoInfer<Events>>
    readonly sealed: SealedToolMaker<NoInfer<Seat>, z.output<Public>, z.output<Own>, z.output<Params>>
  }) => Tools
  /**
   * Plays a round: called in the step of its last sealed move, when every seat in turn has moved. Needed if a tool is
   * sealed. While several seats are in turn, only sealed tools can then be called.
   */
  readonly settle?: (context: SettleContext<NoInfer<State>, z.output<Params>, NoInfer<Seat>, NoInfer<Events>>) => void
  /**
   * Decides what a seat loses that does not act in its turn: usually `leave` and an `end('forfeit')`. Counts as a step
   * of the seat. In a round of sealed moves the seat has then made none: `settle` is called after this if the others
   * have moved. Default: the episode is truncated for all when a seat runs out of steps or of `turnSeconds`.
   */
  readonly absent?: (context: AbsentContext<NoInfer<State>, z.output<Params>, NoInfer<Seat>, NoInfer<Events>>) => void
}
