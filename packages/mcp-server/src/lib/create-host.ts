import {
  type CloseResult,
  DEFAULT_SEAT,
  type EnvironmentInfo,
  type LoggedStep,
  type OpenResult,
  type SessionSummary,
  type StateResult,
  type WatchResult,
  WireError,
} from '@episodic/protocol'
import {
  type Answered,
  type Clock,
  decodeSession,
  type SessionRecord,
  type SessionStore,
  type StoredSession,
  systemClock,
} from '@episodic/state'
import { createMemoryStore } from '@episodic/state/memory'
import type { Environment } from './environment.ts'
import { Faults } from './faults.ts'
import {
  DEFAULT_BOUNDS,
  type Host,
  type HostBounds,
  type HostOptions,
  type OpenRequest,
  type Principal,
  type StepCall,
  type WatchRange,
} from './host.ts'
import { type Live, LiveSessions } from './live-sessions.ts'
import { chooseEnvironment, describeEnvironment, describeOpen, startRecord } from './open-session.ts'
import { playAction } from './rules.ts'
import { ServerError } from './server-error.ts'
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
  #stopSweep: () => void = () => {}
  #creating = 0
  #disposed = false

  constructor({ environments, store, clock = systemClock, bounds, onFault = () => {} }: HostOptions) {
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
    this.#store = store ?? createMemoryStore()
    this.#ownsStore = !store
    this.#clock = clock
    this.#faults = new Faults(onFault)
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
    this.#scheduleSweep()
  }

  async open(principal: Principal, request: OpenRequest): Promise<OpenResult> {
    const live = await this.#open(principal, request)
    return this.#faults.guard(live.environment.name, live.session.record.id, () => describeOpen(live))
  }

  async step(principal: Principal, control: string, call: StepCall): Promise<Answered> {
    return this.#play(await this.#sessions.controlled(principal, control), DEFAULT_SEAT, call)
  }

  async act(capability: string, call: StepCall): Promise<Answered> {
    const { live, seat } = await this.#sessions.seated(capability)
    return this.#play(live, seat, call)
  }

  async actAt(principal: Principal, transportId: string, environment: string, call: StepCall): Promise<Answered> {
    const found = await this.#transports.find(principal, transportId)
    const live = found ?? (await this.#open(principal, { environment, requestKey: transportKey(transportId) }))
    return this.#play(live, DEFAULT_SEAT, call)
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
    await this.#sessions.remove(live.session.record.id)
    return { end }
  }

  issueTransport(principal: Principal): Promise<string> {
    return this.#transports.issue(principal)
  }

  vouch(principal: Principal, secret: string): Promise<boolean> {
    return this.#sessions.vouch(principal, secret)
  }

  async checkTransport(principal: Principal, transportId: string): Promise<void> {
    await this.#transports.find(principal, transportId)
  }

  async endTransport(principal: Principal, transportId: string, environment: string): Promise<void> {
    const found = await this.#transports.find(principal, transportId)
    const live = found ?? (await this.#open(principal, { environment, requestKey: transportKey(transportId) }))
    // The ended record stays until it expires, so that the id is refused from now on and not opened anew.
    await this.#end(live, () => true)
  }

  async environmentOf(capability: string): Promise<EnvironmentInfo> {
    const { live } = await this.#sessions.seated(capability)
    return this.environments.find(({ name }) => name === live.environment.name) as EnvironmentInfo
  }

  async sessions(page: { readonly after?: string | undefined; readonly limit: number }) {
    const now = this.#clock.now()
    const [total, stored] = await this.#sessions.guardStore(Promise.all([this.#store.count(), this.#store.list(page)]))
    return { total, sessions: stored.map((session) => summarise(session, now)) }
  }

  sweep(): Promise<number> {
    return this.#sessions.sweep()
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
    const existing = await this.#sessions.find(id)
    if (existing) {
      if (existing.environment === environment) return existing
      throw new WireError(
        'invalid-params',
        'This request key has opened a session of another environment. Make a new key.',
      )
    }
    const identity = { id, owner: principal, now: this.#clock.now() }
    return this.#withRoom(() =>
      this.#sessions.create(
        this.#faults.guard(environment.name, id, () => startRecord(environment, identity, request)),
      ),
    )
  }

  /** Creates a session if there is room for it and for those that are being created already. Nobody is put out for it. */
  async #withRoom(create: () => Promise<Live>): Promise<Live> {
    const { sessions, idleSeconds } = this.#bounds
    const ahead = this.#creating++
    try {
      if ((await this.#sessions.guardStore(this.#store.count())) + ahead < sessions) return await create()
      throw new WireError('capacity', `All ${sessions} sessions are in use. Close one, or try again later.`, {
        details: { retryAfterSeconds: Math.min(30, idleSeconds) },
      })
    } finally {
      this.#creating--
    }
  }

  async #play(live: Live, seat: string, call: StepCall): Promise<Answered> {
    const { environment } = live
    const answered = await this.#sessions.use(live, (session) =>
      session.step({ seat, ...call }, (turn) =>
        this.#faults.guard(environment.name, turn.record.id, () => playAction(environment, turn, call.action)),
      ),
    )
    live.watchers.wake()
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

function summarise(stored: StoredSession, now: number): SessionSummary {
  const record = decodeSession(stored)
  return {
    id: record.id,
    environment: record.environment.name,
    owner: record.owner,
    age: (now - record.createdAt) / 1_000,
    idle: (now - record.touchedAt) / 1_000,
    bytes: new TextEncoder().encode(stored.origin + stored.head + stored.state).length,
    steps: Object.values(record.seats).reduce((sum, { seq }) => sum + seq, 0),
    history: record.history.length,
    end: record.end,
  }
}
