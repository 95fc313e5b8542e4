import type {
  Action,
  EnvironmentInfo,
  JsonObject,
  LegalActions,
  LimitsRequest,
  MethodParams,
  MethodResult,
  OpenResult,
  OutsideEvent,
  SessionSnapshot,
} from '@episodic/protocol'
import { type Answered, type Clock, DEFAULT_LOG_BYTES, DEFAULT_TEXT_BYTES, type SessionStore } from '@episodic/state'
import type { CallOptions } from '../environment/call-options.ts'
import type { EnvironmentDefinition } from '../environment/environment.ts'
import type { RulesRunner } from '../environment/rules-runner.ts'
import type { Secrets } from '../environment/secrets.ts'
import type { Containment } from './containment.ts'
import type { Fault } from './faults.ts'
import type { Metrics } from './metrics.ts'

export interface HostOptions {
  /** What can be opened. A plain client that names none gets the first. */
  readonly environments: readonly EnvironmentDefinition[]
  /** Where sessions live; in memory unless given. The host does not close a store that it was given. */
  readonly store?: SessionStore
  readonly clock?: Clock
  readonly bounds?: Partial<HostBounds>
  /** Hears of every fault of an environment's own code, with the reference that the caller was given. */
  readonly onFault?: (fault: Fault) => void
  /** Counts what happens. Nothing is counted without it. */
  readonly metrics?: Metrics
  /**
   * Keeps what environments' code leaves behind to the session that it belongs to: a program that owns its process makes one
   * with `containProcess`. Without it, an unhandled rejection ends the process, as is the default of Node.
   */
  readonly containment?: Containment
  /** Where the rules are played: at once and in this thread, unless given. The host does not dispose of what it was given. */
  readonly rules?: RulesRunner
}

/** The bounds of everything that could grow. */
export interface HostBounds {
  /** Sessions kept at once, ended ones included until they are closed or expire. Default 10,000. */
  readonly sessions: number
  /** Sessions kept at once for one principal; all who come without a name are one. Default: as many as `sessions`. */
  readonly sessionsPerPrincipal: number
  /** Seconds after its last finished call until a session expires. Default 900. */
  readonly idleSeconds: number
  /** Calls that may wait for one session, the running one included. Default 64. */
  readonly queue: number
  /**
   * Outside events that may come between two steps of a session, and how many of its last ones are known again when they are
   * published once more. Default 256.
   */
  readonly events: number
  /**
   * UTF-8 bytes of a session's step log from which on its calls are refused as `too-large`. Nothing is changed by a refused
   * call, and the session can still be read, forked and closed. Default 67,108,864 (64 MiB).
   */
  readonly logBytes: number
  /**
   * UTF-8 bytes of the text of one answer. A tool that answers more has failed: nothing is committed, and `onFault` is called.
   * Default 262,144 (256 KiB).
   */
  readonly textBytes: number
}

export const DEFAULT_BOUNDS: HostBounds = {
  sessions: 10_000,
  sessionsPerPrincipal: Number.POSITIVE_INFINITY,
  idleSeconds: 900,
  queue: 64,
  events: 256,
  logBytes: DEFAULT_LOG_BYTES,
  textBytes: DEFAULT_TEXT_BYTES,
}

/** What an opener asks for. */
export interface OpenRequest {
  readonly environment: string
  readonly version?: string | undefined
  readonly params?: JsonObject | undefined
  readonly seed?: string | undefined
  readonly limits?: LimitsRequest | undefined
  readonly requestKey: string
}

/** Which moment of a session: after `at` answered steps, or the present. */
export interface SnapshotQuery {
  readonly at?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** What a fork is asked for with; see `environment/fork`. */
export interface ForkRequest {
  readonly at?: number | undefined
  /** Default 1. */
  readonly count?: number | undefined
  readonly seed?: string | undefined
  readonly requestKey: string
  readonly signal?: AbortSignal | undefined
}

/** One step of one seat. `seq` and `epoch` as in the step protocol; without `seq` a call is at most once. */
export interface StepCall {
  readonly action: Action
  readonly seq?: number | undefined
  readonly epoch?: number | undefined
  /** What to do while the call has to wait. Left out, it waits for as long as it takes, and tells nobody. */
  readonly waiting?: CallOptions | undefined
}

/** How a session stands, as its players may see it. */
export interface Look {
  readonly state: JsonObject
  /** What must not be in what a player is told of it. */
  readonly secrets: Secrets
  /**
   * Calls `listener` after every commit that changed the public state, a step's or any other, until the function that it
   * returns is called; of what other processes commit, within a second or so. The listener must not throw. Throws `capacity`
   * where 256 listen to the session already.
   */
  onChange(listener: () => void): () => void
}

/** How a session stands, in the words of its world. */
export interface Presented {
  readonly observation: string
  /** What must not be in it; the caller checks that before passing it on. */
  readonly secrets: Secrets
}

/** An answered step, and what must not be in what a player is told of it: whoever passes it on has to look. */
export interface Acted extends Answered {
  readonly secrets: Secrets
}

/** Whoever proved who they are; `null` for nobody in particular. */
export type Principal = string | null

/**
 * Plays environments: opens sessions, steps them, watches, expires and closes them.
 *
 * The only way to a session, for every endpoint. Rejects with `WireError`, whose code and message are fit for the
 * trainer endpoint; the agent endpoint says less.
 */
export interface Host extends AsyncDisposable {
  readonly environments: readonly EnvironmentInfo[]
  /** Seconds after its last finished call until a session expires. */
  readonly idleSeconds: number
  open(principal: Principal, request: OpenRequest): Promise<OpenResult>
  /** Steps the session of a control handle, at the trainer endpoint. */
  step(principal: Principal, control: string, call: StepCall): Promise<Acted>
  /** Steps the seat of an agent capability, at the agent endpoint. */
  act(capability: string, call: StepCall): Promise<Acted>
  /** Steps the world of a plain client's transport session, opening it at the first call. */
  actAt(principal: Principal, transportId: string, environment: string, call: StepCall): Promise<Acted>
  /** The public state of a capability's session. */
  look(capability: string): Promise<Look>
  /** The public state of the world of a plain client's transport session, opening it as its first call does. */
  lookAt(principal: Principal, transportId: string, environment: string): Promise<Look>
  /** How a capability's session stands. `null` where the world's `observe` fails, which is reported as a fault. */
  present(capability: string): Promise<Presented | null>
  /**
   * How the world of a plain client's transport session stands, or will stand at its first call, which opens it. `null` where
   * no world begins without parameters.
   */
  presentAt(principal: Principal, transportId: string, environment: string): Promise<Presented | null>
  state(principal: Principal, control: string): Promise<MethodResult<'state'>>
  /** The actions that the rules accept as the session stands; none once its episode has ended. */
  legal(principal: Principal, control: string): Promise<LegalActions>
  watch(principal: Principal, control: string, range: WatchRange): Promise<MethodResult<'watch'>>
  /**
   * Tells a session what happened outside: applied once by its id, in its turn among the steps, and kept before this
   * resolves. Rejects with `invalid-params` for an event that the environment does not take, and for an id that was another
   * event's; with `too-large`, `rate-limited` where too many have come since the last step, `episode-ended`.
   */
  publish(principal: Principal, control: string, event: PublishRequest): Promise<MethodResult<'publish'>>
  /**
   * The same for whoever has a capability of the session, and not its control handle. Rejects with `unauthorized` where
   * somebody else than `principal` opened it; one that was opened by nobody in particular takes events of anybody.
   * Whether they may publish at all is for the endpoint to know.
   */
  publishAt(principal: Principal, capability: string, event: PublishRequest): Promise<MethodResult<'publish'>>
  /**
   * Tells what players of a capability's session may know of its events, as they come; of those that other processes publish
   * within a second or so. Ends with the episode, which is told last, and with `signal`. Rejects with `session-not-found`
   * where there is no session, or none any more.
   *
   * For what players are told in words. Whoever wants the public state itself, and to hear when it changes, takes
   * {@link look}: its `onChange` hears of events as it does of steps.
   */
  listen(capability: string, range?: ListenRange): AsyncIterableIterator<Announcement>
  snapshot(principal: Principal, control: string, query: SnapshotQuery): Promise<SessionSnapshot>
  /** Opens a new session where a snapshot was taken. Its limit of `seconds` counts from now, its steps from the first. */
  restore(principal: Principal, request: MethodParams<'restore'>): Promise<OpenResult>
  /**
   * Opens new sessions where one stands, or stood: all that are asked for, or none. Each has the limit of `seconds` anew,
   * as any session that opens now; the steps of its parent count against its own.
   */
  fork(principal: Principal, control: string, request: ForkRequest): Promise<readonly OpenResult[]>
  close(principal: Principal, control: string): Promise<MethodResult<'close'>>
  /**
   * Names a new MCP session. Nothing is kept for it until it plays. `earlier`, an id that never played, is named anew: the
   * world of both begins the same.
   */
  issueTransport(principal: Principal, earlier?: string): Promise<string>
  /** Begins the world of a transport session at once, and gives how it stands. */
  beginAt(principal: Principal, transportId: string, environment: string): Promise<OpenResult>
  /** Whether a transport id or a capability was given out here, living or not: who floods with others is nobody. */
  vouch(principal: Principal, secret: string): boolean | Promise<boolean>
  /** What the session of a transport id or a capability keeps from its players; `null` where none is in hand. */
  secretsOf(principal: Principal, secret: string): Secrets | null | Promise<Secrets | null>
  /** Which environment a capability plays. */
  environmentOf(capability: string): Promise<EnvironmentInfo>
  /** Throws `session-not-found` for a transport session that was not issued here, has expired or was ended. */
  checkTransport(principal: Principal, transportId: string): Promise<void>
  /** The same for an MCP session that plays no world itself, because its calls name theirs: it does not expire. */
  checkConnection(principal: Principal, transportId: string): Promise<void>
  /** Ends such an MCP session. The sessions that its calls named live on. */
  endConnection(principal: Principal, transportId: string): Promise<void>
  /** Ends a plain client's transport session, and with it the world that it played. */
  endTransport(principal: Principal, transportId: string, environment: string): Promise<void>
  /** Live sessions: all for an operator, and for anybody else those of their own. */
  sessions(query: SessionsQuery): Promise<{ total: number; sessions: MethodResult<'sessions'>['sessions'][number][] }>
  /**
   * One session with a page of its step log, for a bug report: any for an operator, and for anybody else one of their own.
   * Private state is in it only where it is asked for, and what the world lists as secret never. Rejects with
   * `session-not-found`.
   */
  dump(query: DumpQuery): Promise<MethodResult<'dump'>>
  /** Resolves where the store answers; rejects with `store-unavailable` where it does not. */
  ready(): Promise<void>
  /** Removes what has been idle too long and says how many. Runs by itself, too. */
  sweep(): Promise<number>
}

/** Asks for a dump; `owner` narrows it to the sessions of one principal. */
export interface DumpQuery extends MethodParams<'dump'> {
  readonly owner?: Principal | undefined
}

export interface WatchRange {
  readonly after: number
  readonly limit: number
  /** Seconds to wait for the first entry. */
  readonly wait: number
  readonly signal?: AbortSignal | undefined
}

/** An outside event for a session. */
export interface PublishRequest extends OutsideEvent {
  /** Where it is aborted before the event's turn comes, nothing happens; an event whose turn has come is applied. */
  readonly signal?: AbortSignal | undefined
}

/** Where listening begins, and what ends it. */
export interface ListenRange {
  /** A revision; left out, the present. */
  readonly after?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** What events have done to a session, from outside or from its own tools, as its players may know it. */
export interface Announcement {
  /** The revision to listen on after. */
  readonly revision: number
  /** What events have said, oldest first. The calls of its players tell of it too. Holds no secret of the session. */
  readonly said: readonly string[]
  /** Whether the episode has ended, whatever made it. */
  readonly over: boolean
}

/** A page of sessions, in the order of their ids. */
export interface SessionsQuery {
  readonly after?: string | undefined
  readonly limit: number
  /** Whose sessions; left out, everybody's. */
  readonly owner?: Principal | undefined
}
