import {
  type CloseResult,
  DEFAULT_SEAT,
  type EnvironmentInfo,
  type LoggedStep,
  type OpenResult,
  type StateResult,
  type WatchResult,
  WireError,
} from '@episodic/protocol'
import { type Answered, type Clock, type SessionRecord, type SessionStore, systemClock } from '@episodic/state'
import { createMemoryStore } from '@episodic/state/memory'
import { Capacity } from './capacity.ts'
import type { Environment } from './environment.ts'
import { Expiry } from './expiry.ts'
import { Faults } from './faults.ts'
import {
  DEFAULT_BOUNDS,
  type Host,
  type HostBounds,
  type HostOptions,
  type OpenRequest,
  type Principal,
  type SessionsQuery,
  type StepCall,
  type WatchRange,
} from './host.ts'
import { listSessions } from './list-sessions.ts'
import { type Live, LiveSessions } from './live-sessions.ts'
import { withMetrics } from './metered-store.ts'
import type { Metrics, StepOutcome } from './metrics.ts'
import { assertSameOpening, chooseEnvironment, describeEnvironment, describeOpen, startRecord } from './open-session.ts'
import { playAction } from './rules.ts'
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
  readonly #byName: ReadonlyMap<string, Environment>
  readonly #store: SessionStore
  readonly #ownsStore: boolean
  readonly #clock: Clock
  readonly #bounds: HostBounds
  readonly #faults: Faults
  readonly #sessions: LiveSessions
  readonly #transports: TransportSessions
  readonly #capacity: Capacity
  readonly #expiry: Expiry
  readonly #metrics: Metrics | undefined
  /** Opens in progress, by the id of what they open. */
  readonly #opening = new Map<string, Promise<Live>>()
  #stopSweep: () => void = () => {}
  #disposed = false

  constructor({ environments, store, clock: machine = systemClock, bounds, onFault = () => {}, metrics }: HostOptions) {
    this.#byName = new Map(environments.map((environment) => [environment.name, environment]))
    if (environments.length === 0) throw new ServerError('option-invalid', 'A host needs at least one environment.')
    if (this.#byName.size < environments.length)
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
    this.#faults = new Faults((fault) => {
      metrics?.fault(fault.environment)
      onFault(fault)
    })
    const { idleSeconds, queue } = this.#bounds
    this.#sessions = new LiveSessions({
      environments: this.#byName,
      store: this.#store,
      clock,
      faults: this.#faults,
      idleSeconds,
      queue,
    })
    this.#transports = new TransportSessions(this.#sessions, clock, idleSeconds)
    this.#capacity = new Capacity(this.#store, this.#bounds)
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
    const live = await this.#open(principal, request)
    return this.#faults.guard(live.environment.name, live.session.record.id, () => describeOpen(live))
  }

  async step(principal: Principal, control: string, call: StepCall): Promise<Answered> {
    const found = this.#sessions.controlled(principal, control)
    return this.#play(found instanceof Promise ? await found : found, DEFAULT_SEAT, call)
  }

  async act(capability: string, call: StepCall): Promise<Answered> {
    const found = this.#sessions.seated(capability)
    const { live, seat } = found instanceof Promise ? await found : found
    return this.#play(live, seat, call)
  }

  async actAt(principal: Principal, transportId: string, environment: string, call: StepCall): Promise<Answered> {
    const found = await this.#transports.find(principal, transportId, environment)
    const live = found ?? (await this.#open(principal, { environment, requestKey: transportKey(transportId) }))
    if (!found) this.#transports.spend(transportId)
    try {
      return await this.#play(live, DEFAULT_SEAT, call)
    } catch (error) {
      // Where another process has closed it since this one last looked, the id is as unknown here as it is there.
      if (WireError.is(error, 'episode-ended')) await this.#transports.find(principal, transportId)
      throw error
    }
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

  async #open(principal: Principal, request: OpenRequest): Promise<Live> {
    const environment = chooseEnvironment(this.#byName, request)
    const id = (await this.#sessions.handles()).idFor(principal, request.requestKey)
    let opening = this.#opening.get(id)
    if (!opening) {
      opening = this.#findOrCreate(id, principal, environment, request).finally(() => this.#opening.delete(id))
      this.#opening.set(id, opening)
    }
    const live = await opening
    if (live.environment === environment) {
      assertSameOpening(live, request)
      return live
    }
    throw new WireError(
      'invalid-params',
      'This request key has opened a session of another environment. Make a new key.',
    )
  }

  async #findOrCreate(id: string, owner: Principal, environment: Environment, request: OpenRequest): Promise<Live> {
    const existing = await this.#sessions.find(id)
    if (existing) return existing
    const identity = { id, owner, now: this.#clock.now() }
    const create = async () => {
      const record = this.#faults.guard(environment.name, id, () => startRecord(environment, identity, request))
      return this.#sessions.create(record)
    }
    const live = await this.#sessions.guardStore(this.#capacity.admit(id, owner, create))
    this.#metrics?.opened(environment.name)
    return live
  }

  async #play(live: Live, seat: string, call: StepCall): Promise<Answered> {
    const { environment } = live
    const began = this.#clock.monotonic()
    const answered = await this.#sessions.use(live, (session) =>
      session.step({ seat, ...call }, (turn) =>
        this.#faults.guard(environment.name, turn.record.id, () => playAction(environment, turn, call.action)),
      ),
    )
    live.watchers.wake()
    this.#metrics?.step(environment.name, outcomeOf(answered), this.#clock.monotonic() - began)
    return answered
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
