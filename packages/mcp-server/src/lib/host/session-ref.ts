import {
  type EnvironmentInfo,
  type LegalActions,
  type MethodResult,
  type OpenResult,
  type SessionSnapshot,
  WireError,
} from '@episodic/protocol'
import type { Clock, SessionStore } from '@episodic/state'
import type { RulesRunner } from '../environment/rules-runner.ts'
import type { Secrets } from '../environment/secrets.ts'
import type { Principal } from './caller.ts'
import type { Capacity } from './capacity.ts'
import { eventNotifications } from './event-feed.ts'
import type { Faults } from './faults.ts'
import type {
  EventNotification,
  ForkRequest,
  ListenRange,
  PresentedState,
  PublishRequest,
  SessionRef,
  SnapshotQuery,
  StateView,
  StepCall,
  StepOutcome,
  TrainerSessionRef,
  WatchRange,
} from './host.ts'
import type { Metrics } from './metrics.ts'
import { type AtOnce, type CachedSession, notFound, type SessionCache } from './session-cache.ts'
import type { SessionFactory } from './session-factory.ts'
import type { StateSubscriptions } from './state-subscription.ts'
import type { SessionWriter } from './step-session.ts'
import { watchLog } from './watch-log.ts'

/** The parts of a host that its references to sessions use. */
export interface SessionParts {
  readonly environments: readonly EnvironmentInfo[]
  readonly sessions: SessionCache
  readonly writer: SessionWriter
  readonly factory: SessionFactory
  readonly subscriptions: StateSubscriptions
  readonly capacity: Capacity
  readonly store: SessionStore
  readonly clock: Clock
  readonly rules: RulesRunner
  readonly faults: Faults
  readonly metrics: Metrics | undefined
  /** Aborted when the host is disposed of. */
  readonly stopping: AbortSignal
}

/** Whom a token was issued for: verified, while the session itself may be gone. */
export interface VerifiedToken {
  readonly principal: Principal
  /** The id of the session. */
  readonly id: string
  readonly seat: string
}

/** The session of a capability. The session is looked up for each method: a fenced one has a successor in the cache. */
export class ResolvedSession implements SessionRef {
  protected readonly parts: SessionParts
  protected readonly token: VerifiedToken

  constructor(parts: SessionParts, token: VerifiedToken) {
    this.parts = parts
    this.token = token
  }

  get secrets(): Secrets | null {
    return this.parts.sessions.cached(this.token.id)?.secrets ?? null
  }

  environment(): AtOnce<EnvironmentInfo> {
    const found = this.find()
    const infoOf = ({ environment: { name } }: CachedSession) =>
      this.parts.environments.find((info) => info.name === name) as EnvironmentInfo
    return found instanceof Promise ? found.then(infoOf) : infoOf(found)
  }

  async step(call: StepCall): Promise<StepOutcome> {
    const found = this.findOrOpen()
    return await this.parts.writer.step(found instanceof Promise ? await found : found, this.token.seat, call)
  }

  async view(): Promise<StateView> {
    const cached = await this.findOrOpen()
    const { state } = await this.parts.sessions.use(cached, (session) => session.refresh())
    return {
      // A caller in this process may keep and change what it gets; the record must not change with it.
      state: structuredClone(state.public),
      secrets: cached.secrets,
      onChange: (listener) => this.parts.subscriptions.listen(cached, state.public, listener),
    }
  }

  async observe(): Promise<PresentedState | null> {
    return this.parts.factory.present(await this.find())
  }

  async publish({ signal, ...event }: PublishRequest): Promise<MethodResult<'publish'>> {
    const cached = await this.find()
    const { owner } = cached.session.record
    if (owner !== null && owner !== this.token.principal)
      throw new WireError('unauthorized', 'Another client opened this session, and only that client can publish to it.')
    return this.parts.writer.publish(cached, event, signal)
  }

  async *events(range: ListenRange = {}): AsyncGenerator<EventNotification, void, undefined> {
    yield* eventNotifications(await this.find(), range, this.parts)
  }

  async close(): Promise<MethodResult<'close'>> {
    throw new WireError('unauthorized', 'A session is closed by the client that opened it, and not by its players.')
  }

  /** Returns the session. Throws, or rejects with, `session-not-found`. */
  protected find(): AtOnce<CachedSession> {
    return this.parts.sessions.get(this.token.id)
  }

  /** The same for a method that may open the session. */
  protected findOrOpen(): AtOnce<CachedSession> {
    return this.find()
  }
}

/** The session of a control token, which is good for the principal that opened the session. */
export class TrainerSession extends ResolvedSession implements TrainerSessionRef {
  async state(): Promise<MethodResult<'state'>> {
    const record = await this.parts.sessions.use(await this.find(), (session) => session.refresh())
    // A caller in this process may keep and change what it gets; the record must not change with it.
    const { id, environment, revision, epoch, now, state, end } = structuredClone(record)
    const seats = Object.fromEntries(Object.entries(record.seats).map(([seat, { seq }]) => [seat, { seq }]))
    return { id, environment, revision, epoch, seats, now, state, end }
  }

  async legal(): Promise<LegalActions> {
    const { sessions, faults, rules } = this.parts
    const cached = await this.find()
    const { id, end, state, params } = await sessions.use(cached, (session) => session.refresh())
    if (end) return {}
    const { environment } = cached
    return faults.guard(environment.name, id, () => rules.legal(environment, state, params))
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
    if (cached.session.record.owner !== this.token.principal) throw notFound()
    return cached
  }

  override async close(): Promise<MethodResult<'close'>> {
    const { writer, sessions, capacity, metrics } = this.parts
    const cached = await this.find()
    const { end, final } = await writer.close(cached, (record) => record.end === null)
    const { id } = cached.session.record
    await sessions.remove(id)
    capacity.removed(id)
    metrics?.closed(cached.environment.name)
    // After the removal, so that a fault of the world's success condition leaves no open session.
    const success = final && cached.environment.hasSuccess ? await writer.judge(cached, final) : undefined
    return { end, ...(success !== undefined && { success }) }
  }
}
