import {
  type CloseResult,
  DEFAULT_SEAT,
  type EnvironmentInfo,
  type LoggedStep,
  type OpenResult,
  type RestoreRequest,
  type SessionSnapshot,
  type StateResult,
  type WatchResult,
  WireError,
} from '@episodic/protocol'
import { type Answered, type Clock, type SessionRecord, type SessionStore, systemClock } from '@episodic/state'
import { createMemoryStore } from '@episodic/state/memory'
import { Beginnings } from './beginnings.ts'
import { Capacity } from './capacity.ts'
import { Expiry } from './expiry.ts'
import { Faults } from './faults.ts'
import {
  type Acted,
  DEFAULT_BOUNDS,
  type ForkRequest,
  type Host,
  type HostBounds,
  type HostOptions,
  type OpenRequest,
  type Principal,
  type SessionsQuery,
  type SnapshotQuery,
  type StepCall,
  type WatchRange,
} from './host.ts'
import { listSessions } from './list-sessions.ts'
import { type Live, LiveSessions } from './live-sessions.ts'
import { withMetrics } from './metered-store.ts'
import type { Metrics, StepOutcome } from './metrics.ts'
import { describeEnvironment } from './open-session.ts'
import type { Outcome } from './rules.ts'
import { directRules, type RulesRunner } from './rules-runner.ts'
import type { Secrets } from './secrets.ts'
import { ServerError } from './server-error.ts'
import { withSteadyNow } from './steady-clock.ts'
import { TransportSessions, transportKey } from './transport-sessions.ts'

/** Creates a host. Throws `option-invalid` for no environments, two of one name, or bounds that bound nothing. */
export function createHost(options: HostOptions): Host {
  return new SessionHost(options)
}

/** How often a watcher looks by itself, in milliseconds: commits of other processes on the same store wake nobody here. */
const WATCH_INTERVAL = 1_000
/** The longest time between two sweeps, in milliseconds. */
const SWEEP_INTERVAL = 30_000

class SessionHost implements Host {
  readonly environments: readonly EnvironmentInfo[]
  readonly idleSeconds: number
  readonly #store: SessionStore
  readonly #ownsStore: boolean
  readonly #clock: Clock
  readonly #bounds: HostBounds
  readonly #faults: Faults
  readonly #rules: RulesRunner
  readonly #sessions: LiveSessions
  readonly #transports: TransportSessions
  readonly #capacity: Capacity
  readonly #beginnings: Beginnings
  readonly #expiry: Expiry
  readonly #metrics: Metrics | undefined
  #stopSweep: () => void = () => {}
  #disposed = false

  constructor({
    environments,
    store,
    clock: machine = systemClock,
    bounds,
    onFault = () => {},
    metrics,
    rules = directRules,
  }: HostOptions) {
    const byName = new Map(environments.map((environment) => [environment.name, environment]))
    if (environments.length === 0) throw new ServerError('option-invalid', 'A host needs at least one environment.')
    if (byName.size < environments.length)
      throw new ServerError(
        'option-invalid',
        'Two environments of a host have the same name; a name opens one of them.',
      )
    this.environments = environments.map(describeEnvironment)
    this.#bounds = { ...DEFAULT_BOUNDS, ...bounds }
    for (const [name, bound] of Object.entries(this.#bounds))
      if (!(bound > 0)) throw new ServerError('option-invalid', `The bound ${name} is ${bound}, and has to be above 0.`)
    const clock = withSteadyNow(machine)
    const given = store ?? createMemoryStore()
    this.#store = metrics ? withMetrics(given, metrics, clock) : given
    this.#ownsStore = !store
    this.#clock = clock
    this.#metrics = metrics
    this.#rules = rules
    this.#faults = new Faults(onFault, metrics)
    const { idleSeconds, queue } = this.#bounds
    this.idleSeconds = idleSeconds
    this.#sessions = new LiveSessions({
      environments: byName,
      rules,
      store: this.#store,
      clock,
      faults: this.#faults,
      idleSeconds,
      queue,
    })
    this.#transports = new TransportSessions(this.#sessions, clock, idleSeconds)
    this.#capacity = new Capacity(this.#store, this.#bounds)
    this.#beginnings = new Beginnings({
      environments: byName,
      rules,
      sessions: this.#sessions,
      store: this.#store,
      capacity: this.#capacity,
      clock,
      faults: this.#faults,
      metrics,
    })
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
    this.#scheduleSweep()
  }

  async open(principal: Principal, request: OpenRequest): Promise<OpenResult> {
    return this.#beginnings.describe(await this.#beginnings.open(principal, request))
  }

  async restore(principal: Principal, request: RestoreRequest): Promise<OpenResult> {
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
    return this.#play(found instanceof Promise ? await found : found, DEFAULT_SEAT, call)
  }

  async act(capability: string, call: StepCall): Promise<Acted> {
    const found = this.#sessions.seated(capability)
    const { live, seat } = found instanceof Promise ? await found : found
    return this.#play(live, seat, call)
  }

  async actAt(principal: Principal, transportId: string, environment: string, call: StepCall): Promise<Acted> {
    const found = await this.#transports.find(principal, transportId, environment)
    const live =
      found ?? (await this.#beginnings.open(principal, { environment, requestKey: transportKey(transportId) }))
    if (!found) this.#transports.spend(transportId)
    try {
      return await this.#play(live, DEFAULT_SEAT, call)
    } catch (error) {
      // Where another process has closed it since this one last looked, the id is as unknown here as it is there.
      if (WireError.is(error, 'episode-ended')) await this.#transports.find(principal, transportId)
      throw error
    }
  }

  async beginAt(principal: Principal, transportId: string, environment: string): Promise<OpenResult> {
    const live = await this.#beginnings.open(principal, { environment, requestKey: transportKey(transportId) })
    this.#transports.spend(transportId)
    return this.#beginnings.describe(live)
  }

  async state(principal: Principal, control: string): Promise<StateResult> {
    const live = await this.#sessions.controlled(principal, control)
    const record = await this.#sessions.use(live, (session) => session.refresh())
    // A caller in this process may keep what it gets and change it; the record is not theirs.
    const { id, environment, revision, epoch, now, state, end } = structuredClone(record)
    const seats = Object.fromEntries(Object.entries(record.seats).map(([seat, { seq }]) => [seat, { seq }]))
    return { id, environment, revision, epoch, seats, now, state, end }
  }

  async watch(principal: Principal, control: string, { after, limit, wait, signal }: WatchRange): Promise<WatchResult> {
    const live = await this.#sessions.controlled(principal, control)
    const deadline = this.#clock.monotonic() + wait * 1_000
    for (;;) {
      const place = live.watchers.join()
      try {
        const { id, end } = (await this.#sessions.use(live, (session) => session.refresh())) as SessionRecord
        const entries = await this.#sessions.guardStore(this.#store.readLog(id, { after, limit }))
        const left = deadline - this.#clock.monotonic()
        if (entries.length > 0 || end || left <= 0 || signal?.aborted || this.#disposed)
          return { steps: entries.map(({ text }) => JSON.parse(text) as LoggedStep), end }
        await place.until(this.#clock, Math.min(left, WATCH_INTERVAL), signal)
      } finally {
        place.leave()
      }
    }
  }

  async close(principal: Principal, control: string): Promise<CloseResult> {
    const live = await this.#sessions.controlled(principal, control)
    const end = await this.#end(live, (record) => record.end === null)
    const { id } = live.session.record
    await this.#sessions.remove(id)
    this.#capacity.removed(id)
    this.#metrics?.closed(live.environment.name)
    return { end }
  }

  issueTransport(principal: Principal): Promise<string> {
    return this.#transports.issue(principal)
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

  async endTransport(principal: Principal, transportId: string, environment: string): Promise<void> {
    const live = await this.#transports.find(principal, transportId, environment)
    // The ended record stays until it expires, so that the id is refused from now on and not opened anew.
    if (live) await this.#end(live, () => true)
    else this.#transports.spend(transportId)
  }

  async environmentOf(capability: string): Promise<EnvironmentInfo> {
    const { live } = await this.#sessions.seated(capability)
    return this.environments.find(({ name }) => name === live.environment.name) as EnvironmentInfo
  }

  sessions(query: SessionsQuery) {
    return this.#sessions.guardStore(listSessions(this.#store, query, this.#clock.now()))
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
    this.#disposed = true
    this.#stopSweep()
    this.#sessions.release()
    if (this.#ownsStore) await this.#store[Symbol.asyncDispose]()
  }

  async #play(live: Live, seat: string, call: StepCall): Promise<Acted> {
    const { environment } = live
    const began = this.#clock.monotonic()
    const answered = await this.#sessions.use(live, (session) =>
      session.step({ seat, ...call }, (turn) =>
        this.#told(
          live,
          call,
          this.#faults.guard(environment.name, turn.record.id, () => this.#rules.play(environment, turn, call.action)),
        ),
      ),
    )
    live.watchers.wake()
    this.#metrics?.step(environment.name, outcomeOf(answered), this.#clock.monotonic() - began)
    return { ...answered, secrets: live.secrets }
  }

  /** Takes note of what a tool said and nobody was told. */
  #told(live: Live, call: StepCall, outcome: Outcome | Promise<Outcome>): Outcome | Promise<Outcome> {
    if (outcome instanceof Promise) return outcome.then((settled) => this.#told(live, call, settled))
    const { environment, session } = live
    if (outcome.undeclared !== undefined)
      this.#faults.dropped(environment.name, session.record.id, call.action.tool, outcome.undeclared)
    return outcome
  }

  /** Ends the episode as closed, where `when` says so of the record, and gives the end that then holds. */
  async #end(live: Live, when: (record: SessionRecord) => boolean): Promise<NonNullable<SessionRecord['end']>> {
    const closed = { kind: 'truncated', reason: 'closed' } as const
    const record = await this.#sessions.use(live, (session) =>
      session.advance(({ record }) => (when(record) ? { end: closed } : null)),
    )
    live.watchers.wake()
    return record.end ?? closed
  }

  #scheduleSweep(): void {
    if (this.#disposed) return
    this.#stopSweep = this.#clock.after(Math.min(SWEEP_INTERVAL, (this.#bounds.idleSeconds * 1_000) / 4), () => {
      const again = () => this.#scheduleSweep()
      // A store that fails to sweep fails its calls too, and they say so; the next sweep tries again.
      this.sweep().then(again, again)
    })
  }
}

function outcomeOf({ step, replayed }: Answered): StepOutcome {
  if (replayed) return 'replayed'
  return step.report.refused === null ? 'played' : 'refused'
}
