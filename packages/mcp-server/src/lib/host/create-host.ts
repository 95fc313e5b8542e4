import {
  DEFAULT_SEAT,
  type EnvironmentInfo,
  type LegalActions,
  type MethodParams,
  type MethodResult,
  type OpenResult,
  type SessionSnapshot,
  WireError,
} from '@episodic/protocol'
import { type Clock, type SessionRecord, type SessionStore, systemClock } from '@episodic/state'
import { createMemoryStore } from '@episodic/state/memory'
import type { EnvironmentDefinition } from '../environment/environment.ts'
import { directRules, type RulesRunner } from '../environment/rules-runner.ts'
import type { Secrets } from '../environment/secrets.ts'
import { Capacity } from './capacity.ts'
import { dumpSession } from './dump-session.ts'
import { announcementsOf } from './event-feed.ts'
import { Faults } from './faults.ts'
import {
  type Acted,
  type Announcement,
  DEFAULT_BOUNDS,
  type DumpQuery,
  type ForkRequest,
  type Host,
  type HostOptions,
  type ListenRange,
  type Look,
  type OpenRequest,
  type Presented,
  type Principal,
  type PublishRequest,
  type SessionsQuery,
  type SnapshotQuery,
  type StepCall,
  type WatchRange,
} from './host.ts'
import { repeat } from './interval.ts'
import { listSessions } from './list-sessions.ts'
import { withMetrics } from './metered-store.ts'
import type { Metrics } from './metrics.ts'
import { describeEnvironment } from './open-session.ts'
import { type Live, LiveSessions, notFound } from './session-cache.ts'
import { Expiry } from './session-expiry.ts'
import { Beginnings } from './session-factory.ts'
import { PublicChanges } from './state-subscription.ts'
import { withSteadyNow } from './steady-clock.ts'
import { Commits } from './step-session.ts'
import { TransportSessions } from './transport-sessions.ts'
import { assertHost } from './validate-options.ts'
import { watchLog } from './watch-log.ts'

/** Creates a host. Throws `option-invalid` for no environments, two of one name, or bounds that bound nothing. */
export function createHost(options: HostOptions): Host {
  return new SessionHost(options)
}

/** The longest time between two sweeps, in milliseconds. */
const SWEEP_INTERVAL = 30_000

class SessionHost implements Host {
  readonly environments: readonly EnvironmentInfo[]
  readonly idleSeconds: number
  readonly #environments: readonly EnvironmentDefinition[]
  readonly #store: SessionStore
  readonly #ownsStore: boolean
  readonly #clock: Clock
  readonly #sessions: LiveSessions
  readonly #commits: Commits
  readonly #rules: RulesRunner
  readonly #faults: Faults
  readonly #transports: TransportSessions
  readonly #capacity: Capacity
  readonly #beginnings: Beginnings
  readonly #expiry: Expiry
  readonly #changes: PublicChanges
  readonly #metrics: Metrics | undefined
  readonly #stopping = new AbortController()
  readonly #stopSweeps: () => void

  constructor({
    environments,
    store,
    clock: machine = systemClock,
    bounds: wanted,
    onFault = () => {},
    metrics,
    containment,
    rules = directRules,
  }: HostOptions) {
    const bounds = { ...DEFAULT_BOUNDS, ...wanted }
    assertHost({ environments, bounds, rules })
    const byName = new Map(environments.map((environment) => [environment.name, environment]))
    this.#environments = environments
    this.environments = environments.map(describeEnvironment)
    const clock = withSteadyNow(machine)
    const given = store ?? createMemoryStore()
    this.#store = metrics ? withMetrics(given, metrics, clock) : given
    this.#ownsStore = !store
    this.#clock = clock
    this.#metrics = metrics
    const faults = new Faults({
      onFault,
      metrics,
      containment,
      onEscaped: (session, refusal) => this.#sessions.fail(session, refusal),
    })
    this.#faults = faults
    this.#rules = rules
    const { idleSeconds, queue, events, logBytes, textBytes } = bounds
    this.idleSeconds = idleSeconds
    this.#sessions = new LiveSessions({
      environments: byName,
      rules,
      store: this.#store,
      clock,
      faults,
      idleSeconds,
      queue,
      events,
      logBytes,
      textBytes,
    })
    this.#commits = new Commits({ sessions: this.#sessions, rules, clock, faults, metrics })
    this.#transports = new TransportSessions(this.#sessions, clock, idleSeconds)
    this.#capacity = new Capacity(this.#store, bounds)
    this.#beginnings = new Beginnings({
      environments: byName,
      rules,
      sessions: this.#sessions,
      store: this.#store,
      capacity: this.#capacity,
      clock,
      events,
      faults,
      metrics,
    })
    this.#changes = new PublicChanges({ store: this.#store, clock })
    this.#expiry = new Expiry({
      sessions: this.#sessions,
      store: this.#store,
      clock,
      idleSeconds,
      onRemoved: (id) => {
        this.#capacity.removed(id)
        metrics?.expired()
      },
    })
    // A store that fails to sweep fails its calls too, and they say so; the next sweep tries again.
    this.#stopSweeps = repeat(clock, Math.min(SWEEP_INTERVAL, (idleSeconds * 1_000) / 4), () => this.sweep())
  }

  async open(principal: Principal, request: OpenRequest): Promise<OpenResult> {
    return this.#beginnings.describe(await this.#beginnings.open(principal, request))
  }

  async restore(principal: Principal, request: MethodParams<'restore'>): Promise<OpenResult> {
    return this.#beginnings.describe(await this.#beginnings.restore(principal, request))
  }

  async fork(principal: Principal, control: string, request: ForkRequest): Promise<readonly OpenResult[]> {
    return this.#beginnings.fork(await this.#sessions.controlled(principal, control), request)
  }

  async snapshot(principal: Principal, control: string, query: SnapshotQuery): Promise<SessionSnapshot> {
    return this.#beginnings.snapshot(await this.#sessions.controlled(principal, control), query)
  }

  async step(principal: Principal, control: string, call: StepCall): Promise<Acted> {
    const found = this.#sessions.controlled(principal, control)
    return await this.#commits.step(found instanceof Promise ? await found : found, DEFAULT_SEAT, call)
  }

  async act(capability: string, call: StepCall): Promise<Acted> {
    const found = this.#sessions.seated(capability)
    const { live, seat } = found instanceof Promise ? await found : found
    return await this.#commits.step(live, seat, call)
  }

  async actAt(principal: Principal, transportId: string, environment: string, call: StepCall): Promise<Acted> {
    const live = await this.#liveAt(principal, transportId, environment)
    try {
      return await this.#commits.step(live, DEFAULT_SEAT, call)
    } catch (error) {
      // Where another process has closed it since this one last looked, the id is as unknown here as it is there.
      if (WireError.is(error, 'episode-ended')) await this.#transports.find(principal, transportId)
      throw error
    }
  }

  async beginAt(principal: Principal, transportId: string, environment: string): Promise<OpenResult> {
    return this.#beginnings.describe(await this.#openAt(principal, transportId, environment))
  }

  async present(capability: string): Promise<Presented | null> {
    return this.#beginnings.present((await this.#sessions.seated(capability)).live)
  }

  async presentAt(principal: Principal, transportId: string, environment: string): Promise<Presented | null> {
    const found = await this.#transports.find(principal, transportId, environment)
    if (found) return this.#beginnings.present(found)
    return this.#beginnings.foresee(principal, { environment, ...(await this.#transports.opening(transportId)) })
  }

  async look(capability: string): Promise<Look> {
    const found = this.#sessions.seated(capability)
    return this.#look((found instanceof Promise ? await found : found).live)
  }

  async lookAt(principal: Principal, transportId: string, environment: string): Promise<Look> {
    return this.#look(await this.#liveAt(principal, transportId, environment))
  }

  async state(principal: Principal, control: string): Promise<MethodResult<'state'>> {
    const live = await this.#sessions.controlled(principal, control)
    const record = await this.#sessions.use(live, (session) => session.refresh())
    // A caller in this process may keep what it gets and change it; the record is not theirs.
    const { id, environment, revision, epoch, now, state, end } = structuredClone(record)
    const seats = Object.fromEntries(Object.entries(record.seats).map(([seat, { seq }]) => [seat, { seq }]))
    return { id, environment, revision, epoch, seats, now, state, end }
  }

  async legal(principal: Principal, control: string): Promise<LegalActions> {
    const live = await this.#sessions.controlled(principal, control)
    const { id, end, state, params } = await this.#sessions.use(live, (session) => session.refresh())
    if (end) return {}
    const { environment } = live
    return this.#faults.guard(environment.name, id, () => this.#rules.legal(environment, state, params))
  }

  async watch(principal: Principal, control: string, range: WatchRange): Promise<MethodResult<'watch'>> {
    const live = await this.#sessions.controlled(principal, control)
    const stopping = this.#stopping.signal
    return watchLog(live, range, { sessions: this.#sessions, store: this.#store, clock: this.#clock, stopping })
  }

  async publish(
    principal: Principal,
    control: string,
    { signal, ...event }: PublishRequest,
  ): Promise<MethodResult<'publish'>> {
    return this.#commits.publish(await this.#sessions.controlled(principal, control), event, signal)
  }

  async publishAt(principal: Principal, capability: string, { signal, ...event }: PublishRequest) {
    const { live } = await this.#sessions.seated(capability)
    const { owner } = live.session.record
    if (owner !== null && owner !== principal)
      throw new WireError('unauthorized', 'Somebody else opened this session, and nobody but they may publish to it.')
    return this.#commits.publish(live, event, signal)
  }

  async *listen(capability: string, range: ListenRange = {}): AsyncGenerator<Announcement, void, undefined> {
    const found = this.#sessions.seated(capability)
    const { live } = found instanceof Promise ? await found : found
    yield* announcementsOf(live, range, { sessions: this.#sessions, store: this.#store, clock: this.#clock })
  }

  async close(principal: Principal, control: string): Promise<MethodResult<'close'>> {
    const live = await this.#sessions.controlled(principal, control)
    const { end, final } = await this.#commits.close(live, (record) => record.end === null)
    const { id } = live.session.record
    await this.#sessions.remove(id)
    this.#capacity.removed(id)
    this.#metrics?.closed(live.environment.name)
    // The session is closed, whatever the world makes of it.
    const success = final && live.environment.hasSuccess ? await this.#commits.judge(live, final) : undefined
    return { end, ...(success !== undefined && { success }) }
  }

  issueTransport(principal: Principal, earlier?: string): Promise<string> {
    return this.#transports.issue(principal, earlier)
  }

  vouch(principal: Principal, secret: string): boolean | Promise<boolean> {
    return this.#sessions.vouch(principal, secret)
  }

  secretsOf(principal: Principal, secret: string): Secrets | null | Promise<Secrets | null> {
    return this.#sessions.secretsAt(secret) ?? this.#transports.secretsOf(principal, secret)
  }

  async checkTransport(principal: Principal, transportId: string): Promise<void> {
    await this.#transports.find(principal, transportId)
  }

  checkConnection(principal: Principal, transportId: string): Promise<void> {
    return this.#transports.check(principal, transportId)
  }

  async endConnection(principal: Principal, transportId: string): Promise<void> {
    await this.#transports.check(principal, transportId)
    this.#transports.spend(transportId)
  }

  async endTransport(principal: Principal, transportId: string, environment: string): Promise<void> {
    const live = await this.#transports.find(principal, transportId, environment)
    // The ended record stays until it expires, so that the id is refused from now on and not opened anew.
    if (live) await this.#commits.close(live, () => true)
    else this.#transports.spend(transportId)
  }

  async environmentOf(capability: string): Promise<EnvironmentInfo> {
    const { live } = await this.#sessions.seated(capability)
    return this.environments.find(({ name }) => name === live.environment.name) as EnvironmentInfo
  }

  sessions(query: SessionsQuery) {
    return this.#sessions.guardStore(listSessions(this.#store, query, this.#clock.now()))
  }

  async dump(query: DumpQuery): Promise<MethodResult<'dump'>> {
    const secretsOf = ({ id, environment: { name, version }, state, params }: SessionRecord) => {
      const environment = this.#environments.find((served) => served.name === name && served.version === version)
      return environment ? this.#faults.guard(name, id, () => this.#rules.secrets(environment, state, params)) : []
    }
    const dump = await this.#sessions.guardStore(dumpSession(this.#store, query, secretsOf))
    if (!dump) throw notFound()
    return dump
  }

  async ready(): Promise<void> {
    await this.#sessions.guardStore(this.#store.read('ready'))
  }

  async sweep(): Promise<number> {
    const swept = await this.#expiry.sweep()
    await this.#sessions.guardStore(this.#capacity.refresh())
    return swept
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    this.#stopSweeps()
    this.#changes.stop()
    this.#sessions.release()
    if (this.#ownsStore) await this.#store[Symbol.asyncDispose]()
  }

  /** The world of a transport session; it opens where there is none yet. */
  async #liveAt(principal: Principal, transportId: string, environment: string): Promise<Live> {
    const found = await this.#transports.find(principal, transportId, environment)
    if (found) return found
    return this.#openAt(principal, transportId, environment)
  }

  async #openAt(principal: Principal, transportId: string, environment: string): Promise<Live> {
    const opening = await this.#transports.opening(transportId)
    const live = await this.#beginnings.open(principal, { environment, ...opening })
    this.#transports.spend(transportId)
    return live
  }

  async #look(live: Live): Promise<Look> {
    const { state } = await this.#sessions.use(live, (session) => session.refresh())
    return {
      // A caller in this process may keep what it gets and change it; the record is not theirs.
      state: structuredClone(state.public),
      secrets: live.secrets,
      onChange: (listener) => this.#changes.listen(live, state.public, listener),
    }
  }
}
