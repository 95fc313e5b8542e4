import type {
  Action,
  EnvironmentInfo,
  JsonObject,
  LegalActions,
  LoggedStep,
  MethodParams,
  MethodResult,
  OpenResult,
  OutsideEvent,
  SessionSnapshot,
} from '@episodic/protocol'
import type { Answered, Clock, SessionStore } from '@episodic/state'
import { DEFAULT_LOG_BYTES, DEFAULT_TEXT_BYTES } from '@episodic/state/internal'
import type { Secrets } from '../environment/answer/secrets.ts'
import type { EnvironmentDefinition } from '../environment/definition/environment.ts'
import type { CallOptions } from '../environment/rules/call-options.ts'
import type { Principal, SessionAddress } from './access/caller.ts'
import type { Containment } from './operate/containment.ts'
import type { Fault } from './operate/faults.ts'
import type { Metrics } from './operate/metrics.ts'

export interface HostOptions {
  /** What can be opened. A plain client that names none gets the first. */
  readonly environments: readonly EnvironmentDefinition[]
  /** Where sessions live; in memory unless given. The host does not close a store that it was given. */
  readonly store?: SessionStore
  readonly clock?: Clock
  readonly bounds?: Partial<HostBounds>
  /** Called for every fault of an environment's own code, with the reference that the caller was given. */
  readonly onFault?: (fault: Fault) => void
  /** Called when what a player has left was judged, in a last step: it closed, was said to have left, or was idle. */
  readonly onLeft?: (left: {
    readonly environment: string
    readonly session: string
    readonly step: LoggedStep
  }) => void
  /**
   * Seats that the program plays itself, by environment; see `watchTurns`. Clients that create sessions by themselves
   * take no such seat and invite nobody to it. Default: none.
   */
  readonly reservedSeats?: { readonly [environment: string]: readonly string[] }
  /** Counts what happens. Nothing is counted without it. */
  readonly metrics?: Metrics
  /**
   * Keeps what environments' code leaves behind to the session that it belongs to: a program that owns its process
   * makes one with `containProcess`. Without it, an unhandled rejection ends the process, as is the default of Node.
   */
  readonly containment?: Containment
}

/** The bounds of everything that could grow. */
export interface HostBounds {
  /** Sessions kept at once, ended ones included until they are closed or expire. Default 10,000. */
  readonly sessions: number
  /** Sessions kept at once for one principal; all who come without a name are one. Default: as many as `sessions`. */
  readonly sessionsPerPrincipal: number
  /** Seconds after its last call until a session expires; one judged then (`absent`) stays so again. Default 900. */
  readonly idleSeconds: number
  /**
   * Seconds for which an agent's call waits for the turn of its seat, if there are several and its address does not say
   * otherwise; 0 for not at all. Clients give up by themselves: those of the SDKs after 60 seconds. Default 20.
   */
  readonly waitSeconds: number
  /** Calls that may wait for one session, the running one included. Default 64. */
  readonly queue: number
  /** Outside events between two steps, and the last ones that are known again when published anew. Default 256. */
  readonly events: number
  /**
   * UTF-8 bytes of a session's step log from which on its calls are refused as `too-large`. Nothing is changed by a
   * refused call, and the session can still be read, forked and closed. Default 67,108,864 (64 MiB).
   */
  readonly logBytes: number
  /** UTF-8 bytes of the text of an answer. Beyond, the tool has failed: `onFault`, no commit. Default 262,144. */
  readonly textBytes: number
}

export const DEFAULT_BOUNDS: HostBounds = {
  sessions: 10_000,
  sessionsPerPrincipal: Number.POSITIVE_INFINITY,
  idleSeconds: 900,
  waitSeconds: 20,
  queue: 64,
  events: 256,
  logBytes: DEFAULT_LOG_BYTES,
  textBytes: DEFAULT_TEXT_BYTES,
}

export type OpenRequest = Partial<MethodParams<'open'>> & Pick<MethodParams<'open'>, 'environment' | 'requestKey'>

/** The state to take a snapshot of: after `at` answered steps, or the present. */
export type SnapshotQuery = InSession<'snapshot'>

/** A request for forks; see `environment/fork`. `count` is 1 by default. */
export type ForkRequest = Omit<InSession<'fork'>, 'count'> & Partial<Pick<InSession<'fork'>, 'count'>>

/** The parameters of a method beside its session, and what calls it off. */
type InSession<Name extends 'snapshot' | 'fork' | 'turn' | 'watch'> = Omit<MethodParams<Name>, 'session'> & {
  readonly signal?: AbortSignal | undefined
}

/** One step of one seat. `seq` and `epoch` as in the step protocol; without `seq` a call is at most once. */
export interface StepCall {
  readonly action: Action
  /** The seat that a trainer plays; needed if there are several. An agent's token has one. */
  readonly seat?: string | undefined
  readonly seq?: number | undefined
  readonly epoch?: number | undefined
  /** Cancellation and progress of a call that waits. If omitted, it waits without limit and reports nothing. */
  readonly waiting?: CallOptions | undefined
}

export interface ToolsView {
  /** The same as that of a {@link StateView}, after every commit that changed which tools the player has. */
  onChange(listener: () => void): () => void
}

export interface StateView extends ToolsView {
  readonly state: JsonObject
  /** Must not appear in anything that is sent to a player. */
  readonly secrets: Secrets
  /**
   * Calls `listener` after every commit that changed the public state, until the returned function is called. Commits
   * of other processes are noticed within about a second. The listener must not throw. Throws `capacity` if the session
   * has 256 listeners.
   */
  onChange(listener: () => void): () => void
}

export interface PresentedState {
  readonly observation: string
  /** The names of the tools that the player has now; `undefined` for all of its seat. */
  readonly tools: readonly string[] | undefined
  /** Must not appear in the text; the caller checks that before it passes the text on. */
  readonly secrets: Secrets
}

/** An answered step, and the secrets that must not appear in anything that is sent to a player. */
export interface StepOutcome extends Answered {
  readonly secrets: Secrets
  /** Texts for the seat since its last step that this process has not shown it, oldest first. Empty for one seat. */
  readonly messages: readonly string[]
}

/**
 * Plays environments: opens sessions, resolves them, lists and expires them. The only way to a session, for every
 * endpoint.
 *
 * Methods reject with `WireError`, whose code and message are fit for the trainer endpoint; the agent endpoint says
 * less.
 */
export interface Host extends AsyncDisposable, Pick<HostBounds, 'idleSeconds' | 'sessionsPerPrincipal'> {
  readonly environments: readonly EnvironmentInfo[]
  open(principal: Principal, request: OpenRequest): Promise<OpenResult>
  /** Opens a new session from a snapshot. Its limit of `seconds` counts from now, its steps from the first. */
  restore(principal: Principal, request: MethodParams<'restore'>): Promise<OpenResult>
  /**
   * Verifies the token of an address and returns a reference to its session, at once in nearly every call. Throws, or
   * rejects with, `session-not-found` for a token that was not issued here or not to `principal`, and `invalid-request`
   * for an address without a token.
   *
   * The session itself is read when a method of the reference needs it, and that method rejects with
   * `session-not-found` if the session is closed or expired. Resolve once per call: the rate limiter, the step and the
   * leak scan share the reference.
   */
  resolve(principal: Principal, address: ControlAddress): TrainerSessionRef | Promise<TrainerSessionRef>
  resolve(principal: Principal, address: SessionAddress): SessionRef | Promise<SessionRef>
  /**
   * Returns a reference to the session that `principal` opened with a request key, for an endpoint whose clients name
   * their sessions themselves: it finds them again after a restart. If there is none, the methods of the reference
   * reject with `session-not-found`.
   */
  findOpened(principal: Principal, requestKey: string): TrainerSessionRef | Promise<TrainerSessionRef>
  /** MCP sessions: the ids that clients send as `Mcp-Session-Id`. */
  readonly connections: Connections
  /** Sessions of several seats that clients create and join by themselves. */
  readonly players: Players
  /**
   * Calls `listener` with the seats that may act, for a program that plays seats itself: once for each open session of
   * several seats in the store, and then whenever this host has opened one or committed a step of one. Resolves with a
   * function that ends this. The listener must not throw.
   */
  watchTurns(listener: TurnListener): Promise<() => void>
  /** Lists open sessions: all for an operator, and for anyone else their own. */
  list(query: SessionsQuery): Promise<{ total: number; sessions: MethodResult<'sessions'>['sessions'][number][] }>
  /**
   * Returns one session with a page of its step log, for a bug report: any session for an operator, and for anyone else
   * one of their own. Private state is included only on request, and texts that the world lists as secret never.
   * Rejects with `session-not-found`.
   */
  dump(query: DumpQuery): Promise<MethodResult<'dump'>>
  /** Resolves if the store answers and can be written; rejects with `store-unavailable` if not. */
  ready(): Promise<void>
  /** Removes expired sessions and resolves with their number. Runs by itself, too. */
  sweep(): Promise<number>
}

export type ControlAddress = Extract<SessionAddress, { readonly by: 'control' }>

/** A session as a player reaches it. Resolved by a control token, it is a {@link TrainerSessionRef}. */
export interface SessionRef {
  /** What the session withholds from its players; `null` if this process has not cached the session. */
  readonly secrets: Secrets | null
  /** Returns the environment that the session plays. Throws, or rejects with, `session-not-found`. */
  environment(): EnvironmentInfo | Promise<EnvironmentInfo>
  /** Plays one step, or returns the stored answer of a repeated `seq`. Opens a session that opens at its first call. */
  step(call: StepCall): StepOutcome | Promise<StepOutcome>
  /** Waits until the seat may act or its episode is over, and returns what it knows then. */
  awaitTurn(waiting?: CallOptions): Promise<SeatTurn>
  /** Returns the public state; with several seats, what the seat sees. Opens a session that opens at its first call. */
  view(): Promise<StateView>
  /** Returns the tools of the player; `null` if they never change, and for a session that opens at its first call. */
  tools(): Promise<ToolsView | null>
  /**
   * Returns the observation; before the first call, the one with which the session will open. `null` if the world's
   * `observe` fails, which is reported as a fault, and if no session opens without parameters.
   */
  observe(): Promise<PresentedState | null>
  /**
   * Publishes an outside event: applies it once by its id, in its turn among the steps, and commits it before this
   * resolves. Rejects with `invalid-params` for an event that the environment does not take, and for an id that another
   * event had; with `too-large`; with `rate-limited` if too many events have come since the last step; with
   * `episode-ended`; and with `unauthorized` if another principal opened the session. Whether a caller may publish at
   * all is for the endpoint to decide.
   */
  publish(event: PublishRequest): Promise<MethodResult<'publish'>>
  /**
   * Yields what players may know of the session's events, as they happen; those that other processes publish, within
   * about a second. The last notification is the end of the episode. Also ends with `signal`. Throws
   * `session-not-found` if the session is gone. For changes of the public state, use `onChange` of {@link view}.
   */
  events(range?: ListenRange): AsyncIterableIterator<EventNotification>
  /**
   * Closes the session. By a control token, removes it; for a session of an MCP connection or an argument, ends its
   * episode and refuses the token from now on. Rejects with `unauthorized` for a capability.
   *
   * @param left - whether the player has left, so that the environment may judge what it left in a last step;
   *   `if-played`: only where something was played. Default `false`. The player of an MCP connection or an argument has
   *   left if it has played.
   */
  close(left?: boolean | 'if-played'): Promise<MethodResult<'close'>>
}

/** A session as its trainer reaches it. */
export interface TrainerSessionRef extends SessionRef {
  state(): Promise<MethodResult<'state'>>
  /** Returns the actions that the rules accept now: none after the end and out of turn. Several seats: name one. */
  legal(seat?: string): Promise<LegalActions>
  turn(query: TurnQuery): Promise<MethodResult<'turn'>>
  /** Takes the step of a seat that was left; see `environment/leave`. May be `invalid-params` or `not-your-turn`. */
  leave(seat: string): Promise<MethodResult<'leave'>>
  watch(range: WatchRange): Promise<MethodResult<'watch'>>
  snapshot(query: SnapshotQuery): Promise<SessionSnapshot>
  /**
   * Opens new sessions at the present state or at an earlier step: all that are asked for, or none. Each has the limit
   * of `seconds` anew; the steps of its parent count against its own.
   */
  fork(request: ForkRequest): Promise<readonly OpenResult[]>
}

/** The ids of MCP sessions. An id proves by itself that this server issued it, to whom and when. */
export interface Connections {
  /** Issues an id in place of `earlier`, whose session was never opened: both would open with the same seed. */
  issue(principal: Principal, earlier?: string): Promise<string>
  /**
   * Throws, or rejects with, `session-not-found` for an id that was not issued here, or was ended. Does not look for a
   * session: an MCP session whose calls name theirs has none, and does not expire.
   */
  check(principal: Principal, id: string): void | Promise<void>
  /** Ends an MCP session whose calls name their session. Those sessions live on. Rejects as `check` does. */
  end(principal: Principal, id: string): Promise<void>
}

/**
 * Sessions of several seats that clients create, join and name by themselves, with tokens that need no table. A
 * player's token is good for the principal that it was issued to, in an `argument` address.
 */
export interface Players {
  /**
   * Opens a session for a player of one seat, by default the first that is not reserved. Rejects with `invalid-params`
   * for a seat that the episode does not have, and for an environment that does not open without parameters; with
   * `seat-taken` for a reserved one.
   */
  create(
    principal: Principal,
    request: { readonly environment: string; readonly seat?: string | undefined },
  ): Promise<CreatedGame>
  /**
   * Takes the seat of an invitation, for the first principal that asks; that one is answered the same again. Rejects
   * with `seat-taken` for another one and for a reserved seat, and with `session-not-found` for an invitation that was
   * not issued here, or whose session is gone or plays another environment.
   */
  join(
    principal: Principal,
    request: { readonly environment: string; readonly invitation: string },
  ): Promise<JoinedSeat>
}

export interface JoinedSeat {
  readonly token: string
  readonly seat: string
}

/** A session that a client has created, with an invitation to each other seat. */
export interface CreatedGame extends JoinedSeat {
  readonly invitations: { readonly [seat: string]: string }
}

export type TurnListener = (turn: SeatsInTurn) => void

export interface SeatsInTurn {
  readonly session: string
  readonly environment: string
  readonly params: JsonObject
  readonly seats: readonly { readonly seat: string; readonly handle: string }[]
}

/** What the player of a seat knows when its wait is over. */
export interface SeatTurn extends Pick<MethodResult<'turn'>, 'mine' | 'observation' | 'messages' | 'end' | 'seq'> {
  /** Must not appear in anything that is sent to the player. */
  readonly secrets: Secrets
}

/** Asks for the turn of a seat, and waits for it for some seconds. */
export type TurnQuery = InSession<'turn'>

/** Asks for a dump; `owner` narrows it to the sessions of one principal. */
export interface DumpQuery extends MethodParams<'dump'> {
  readonly owner?: Principal | undefined
}

export type WatchRange = InSession<'watch'>

export interface PublishRequest extends OutsideEvent {
  /** Nothing happens if it is aborted before the event's turn comes; an event whose turn has come is applied. */
  readonly signal?: AbortSignal | undefined
}

/** Where a subscription to events starts, and what ends it. */
export interface ListenRange {
  /** A revision; default: the present one. */
  readonly after?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** What events have done to a session, from outside or from its own tools, as its players may know it. */
export interface EventNotification {
  /** The revision to continue after. */
  readonly revision: number
  /** The texts of the events, oldest first. Answers to the players' calls have them too. Holds no secret. */
  readonly said: readonly string[]
  /** Whether the episode has ended, for any reason. */
  readonly over: boolean
}

/** A page of sessions, in the order of their ids; `owner` narrows it to those of one principal. */
export interface SessionsQuery extends MethodParams<'sessions'> {
  readonly owner?: Principal | undefined
}
