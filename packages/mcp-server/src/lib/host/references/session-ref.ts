import {
  type EnvironmentInfo,
  type LegalActions,
  type MethodResult,
  type OpenResult,
  type SessionSnapshot,
  WireError,
} from '@episodic/protocol'
import { copyPlain, invalidParams, judgementOf } from '@episodic/protocol/internal'
import { isLarge } from '@episodic/state/internal'
import type { Secrets } from '../../environment/answer/secrets.ts'
import { declaredAction } from '../../environment/definition/declared-action.ts'
import type { CallOptions } from '../../environment/rules/call-options.ts'
import type { Principal } from '../access/caller.ts'
import type {
  EventNotification,
  ForkRequest,
  ListenRange,
  PresentedState,
  PublishRequest,
  SeatTurn,
  SessionRef,
  SnapshotQuery,
  StateView,
  StepCall,
  StepOutcome,
  ToolsView,
  TrainerSessionRef,
  TurnQuery,
  WatchRange,
} from '../host.ts'
import type { SessionFactory, SessionFactoryOptions } from '../open/session-factory.ts'
import {
  type AtOnce,
  type CachedSession,
  notFound,
  type SessionCache,
  type SessionCacheOptions,
} from '../sessions/session-cache.ts'
import { reportWaiting } from '../steps/prepare-session-step.ts'
import type { SessionWriter } from '../steps/step-session.ts'
import { eventNotifications } from '../watch/event-feed.ts'
import type { StateSubscriptions } from '../watch/state-subscription.ts'
import { legalOfSeat, type TurnSetting, turnOfSeat } from '../watch/turn-of-seat.ts'
import { watchLog } from '../watch/watch-log.ts'

export interface SessionParts
  extends Pick<SessionCacheOptions, 'store' | 'clock' | 'idleSeconds'>,
    Pick<SessionFactoryOptions, 'capacity' | 'faults' | 'metrics'>,
    Pick<TurnSetting, 'stopping'> {
  readonly environments: readonly EnvironmentInfo[]
  readonly sessions: SessionCache
  readonly writer: SessionWriter
  readonly factory: SessionFactory
  readonly subscriptions: StateSubscriptions
  readonly waitSeconds: number
}

/** Whom a token was issued for: verified, while the session itself may be gone. */
export interface VerifiedToken {
  readonly principal: Principal
  readonly id: string
  /** The place of its seat among those of the environment. */
  readonly place: number
  /** See `AgentAddress`. */
  readonly hold?: number | undefined
}

export class ResolvedSession implements SessionRef {
  protected readonly parts: SessionParts
  protected readonly token: VerifiedToken
  readonly #verified: CachedSession | undefined

  constructor(parts: SessionParts, token: VerifiedToken, verified?: CachedSession) {
    this.parts = parts
    this.token = token
    this.#verified = verified
  }

  get secrets(): Secrets | null {
    const cached = this.#held ?? this.parts.sessions.cached(this.token.id)
    return cached?.secrets[cached.environment.seats[this.token.place] as string] ?? null
  }

  environment(): AtOnce<EnvironmentInfo> {
    const found = this.find()
    const infoOf = (cached: CachedSession) => {
      const info = this.parts.environments.find(({ name }) => name === cached.environment.name)
      return infoForSeat(info as EnvironmentInfo, this.seatIn(cached))
    }
    return found instanceof Promise ? found.then(infoOf) : infoOf(found)
  }

  step(call: StepCall): AtOnce<StepOutcome> {
    try {
      const found = this.findOrOpen()
      return found instanceof Promise ? found.then((cached) => this.#step(cached, call)) : this.#step(found, call)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  #step(cached: CachedSession, call: StepCall): AtOnce<StepOutcome> {
    const seat = this.seatIn(cached, call.seat)
    const { seq, epoch, waiting } = call
    const declared = { action: declaredAction(cached.environment, call.action), seq, epoch, waiting }
    return this.parts.writer.step(cached, seat, declared)
  }

  async awaitTurn(waiting?: CallOptions): Promise<SeatTurn> {
    const { clock, waitSeconds } = this.parts
    const wait = this.token.hold ?? waitSeconds
    const cached = await this.find()
    const seat = this.seatIn(cached)
    const stopReporting = reportWaiting(clock, waiting?.report, 'Waiting for your turn.')
    const signals = [waiting?.signal, waiting?.stopping].filter((signal) => signal !== undefined)
    try {
      const turn = await turnOfSeat(cached, { seat, wait, signal: AbortSignal.any(signals) }, this.parts)
      cached.shown ??= new Map()
      cached.shown.set(seat, turn.messages.length)
      return { ...turn, secrets: cached.secrets[seat] as Secrets }
    } finally {
      stopReporting()
    }
  }

  async view(): Promise<StateView> {
    const cached = await this.findOrOpen()
    const { state, params } = await this.parts.sessions.use(cached, (session) => session.refresh())
    const seat = this.seatIn(cached)
    const { environment } = cached
    const seen = environment.multiplayer ? await cached.rules.observe(state, params, seat) : null
    return {
      // A caller in this process may keep and change what it gets; the record must not change with it.
      state: copyPlain(seen?.observation.structured ?? state.public),
      secrets: cached.secrets[seat] as Secrets,
      onChange: (listener) =>
        this.parts.subscriptions.listen(cached, environment.multiplayer ? seat : null, state, listener),
    }
  }

  async tools(): Promise<ToolsView | null> {
    const cached = await this.findOpened()
    if (!cached?.environment.offers) return null
    const { session, rules } = cached
    const seat = this.seatIn(cached)
    const offered = async () => {
      const { state, params } = session.record
      return (await rules.observe(state, params, seat)).observation.tools?.join(' ')
    }
    let last = await offered()
    const compare = async (listener: () => void) => {
      const before = last
      last = await offered()
      if (last !== before) listener()
    }
    // A world that fails has reported it.
    return {
      onChange: (listener) => this.parts.subscriptions.follow(cached, () => void compare(listener).catch(() => {})),
    }
  }

  async observe(): Promise<PresentedState | null> {
    const cached = await this.find()
    return this.parts.factory.present(cached, this.seatIn(cached))
  }

  async publish({ signal, ...event }: PublishRequest): Promise<MethodResult<'publish'>> {
    const cached = await this.find()
    if (cached.owner !== null && cached.owner !== this.token.principal)
      throw new WireError('unauthorized', 'Another client opened this session, and only that client can publish to it.')
    return this.parts.writer.publish(cached, event, signal)
  }

  async *events(range: ListenRange = {}): AsyncGenerator<EventNotification, void, undefined> {
    const cached = await this.find()
    yield* eventNotifications(cached, { ...range, seat: this.seatIn(cached) }, this.parts)
  }

  async close(): Promise<MethodResult<'close'>> {
    throw new WireError('unauthorized', 'A session is closed by the client that opened it, and not by its players.')
  }

  /** Returns the caller's seat. Throws `session-not-found` for a seat that the episode does not have. */
  protected seatIn({ environment, seats }: CachedSession, _named?: string): string {
    const seat = environment.seats[this.token.place]
    if (seat === undefined || !seats.includes(seat)) throw notFound()
    return seat
  }

  /** The session with which the token was verified; `undefined` once it has, or may have, a successor in the cache. */
  get #held(): CachedSession | undefined {
    return this.#verified?.held ? this.#verified : undefined
  }

  protected find(): AtOnce<CachedSession> {
    return this.#held ?? this.parts.sessions.get(this.token.id)
  }

  /** The same; `null` for a session that opens at its first call. */
  protected findOpened(): AtOnce<CachedSession | null> {
    return this.find()
  }

  /** The same for a method that may open the session. */
  protected findOrOpen(): AtOnce<CachedSession> {
    return this.find()
  }
}

function infoForSeat(info: EnvironmentInfo, seat: string): EnvironmentInfo {
  const own = info.seats?.find(({ name }) => name === seat)
  return own ? { ...info, seats: [own], tools: info.tools.filter(({ name }) => own.tools.includes(name)) } : info
}

/** The session of a control token, which is good for the principal that opened the session. */
export class TrainerSession extends ResolvedSession implements TrainerSessionRef {
  async state(): Promise<MethodResult<'state'>> {
    const record = await this.parts.sessions.use(await this.find(), (session) => session.refresh())
    const { state, ...rest } = record
    // A caller in this process may keep and change what it gets; the record must not change with it. A large state is
    // read-only.
    const { id, environment, revision, epoch, now, end } = copyPlain(rest)
    const seats = Object.fromEntries(Object.entries(record.seats).map(([seat, { seq }]) => [seat, { seq }]))
    return { id, environment, revision, epoch, seats, now, state: isLarge(state) ? state : copyPlain(state), end }
  }

  async legal(named?: string): Promise<LegalActions> {
    const cached = await this.find()
    return legalOfSeat(cached, this.seatIn(cached, named), this.parts)
  }

  async turn({ seat: named, ...range }: TurnQuery): Promise<MethodResult<'turn'>> {
    const cached = await this.find()
    return turnOfSeat(cached, { ...range, seat: this.seatIn(cached, named) }, this.parts)
  }

  async leave(named: string): Promise<MethodResult<'leave'>> {
    const cached = await this.find()
    const seat = this.seatIn(cached, named)
    await this.parts.writer.leave(cached, seat)
    return turnOfSeat(cached, { seat, wait: 0 }, this.parts)
  }

  /** A trainer names the seat, if there are several. */
  protected override seatIn({ seats }: CachedSession, named?: string): string {
    const seat = named ?? (seats.length === 1 ? seats[0] : undefined)
    if (seat !== undefined && seats.includes(seat)) return seat
    const problem = named === undefined ? 'The request names no seat' : `There is no seat "${named}" in this session`
    throw invalidParams(`${problem}. The seats are: ${seats.join(', ')}.`)
  }

  async watch(range: WatchRange): Promise<MethodResult<'watch'>> {
    return watchLog(await this.find(), range, this.parts)
  }

  async snapshot(query: SnapshotQuery): Promise<SessionSnapshot> {
    return this.parts.factory.snapshot(await this.find(), query)
  }

  async fork(request: ForkRequest): Promise<readonly OpenResult[]> {
    return this.parts.factory.fork(await this.find(), request)
  }

  /** A store may hold a session of this id that another principal has opened. */
  protected override find(): AtOnce<CachedSession> {
    const found = super.find()
    return found instanceof Promise ? found.then((cached) => this.#own(cached)) : this.#own(found)
  }

  #own(cached: CachedSession): CachedSession {
    if (cached.owner !== this.token.principal) throw notFound()
    return cached
  }

  override async close(left: boolean | 'if-played' = false): Promise<MethodResult<'close'>> {
    const { writer, sessions, capacity, metrics } = this.parts
    const cached = await this.find()
    // What fails here fails the request once the session is closed.
    const asks = left === true || cached.session.record.end !== null || writer.isLeft(cached)
    const leaving = left && asks ? writer.judgeLeft(cached) : Promise.resolve(null)
    await leaving.catch(() => {})
    const { end, final } = await writer.close(cached, (record) => record.end === null)
    const { id } = cached.session.record
    await sessions.remove(id)
    capacity.removed(id)
    metrics?.closed(cached.environment.name)
    const step = await leaving
    if (step) return { end, step, ...judgementOf(step.report) }
    // After the removal, so that a fault of the world's judgement leaves no open session.
    return { end, ...(final && !cached.environment.multiplayer && (await cached.rules.evaluate(final))) }
  }
}
