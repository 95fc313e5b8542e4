import {
  type CloseResult,
  DEFAULT_SEAT,
  type EnvironmentInfo,
  type LoggedStep,
  type OpenResult,
  type PublishResult,
  type RestoreRequest,
  type SessionSnapshot,
  type StateResult,
  type WatchResult,
  WireError,
} from '@episodic/protocol'
import {
  type Answered,
  type Clock,
  isEndUntold,
  type SessionRecord,
  type SessionStore,
  systemClock,
} from '@episodic/state'
import { createMemoryStore } from '@episodic/state/memory'
import { announcementsOf } from './announcements-of.ts'
import { assertEvent, assertEventId } from './apply-event.ts'
import { Beginnings } from './beginnings.ts'
import { Capacity } from './capacity.ts'
import type { Environment } from './environment.ts'
import { Expiry } from './expiry.ts'
import { Faults } from './faults.ts'
import {
  type Acted,
  type Announcement,
  DEFAULT_BOUNDS,
  type ForkRequest,
  type Host,
  type HostBounds,
  type HostOptions,
  type ListenRange,
  type Look,
  type OpenRequest,
  type Principal,
  type PublishRequest,
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
import { afterEffect, createPreparation, toPrepare } from './prepare-step.ts'
import { PublicChanges } from './public-changes.ts'
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
  readonly #changes: PublicChanges
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
    if (!rules.prepares) for (const environment of environments) assertUnprepared(environment)
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
    const { idleSeconds, queue, events } = this.#bounds
    this.idleSeconds = idleSeconds
    this.#sessions = new LiveSessions({
      environments: byName,
      rules,
      store: this.#store,
      clock,
      faults: this.#faults,
      idleSeconds,
      queue,
      events,
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
      events,
      faults: this.#faults,
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
    return await this.#play(found instanceof Promise ? await found : found, DEFAULT_SEAT, call)
  }

  async act(capability: string, call: StepCall): Promise<Acted> {
    const found = this.#sessions.seated(capability)
    const { live, seat } = found instanceof Promise ? await found : found
    return await this.#play(live, seat, call)
  }

  async actAt(principal: Principal, transportId: string, environment: string, call: StepCall): Promise<Acted> {
    const live = await this.#liveAt(principal, transportId, environment)
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

  async look(capability: string): Promise<Look> {
    const found = this.#sessions.seated(capability)
    return this.#look((found instanceof Promise ? await found : found).live)
  }

  async lookAt(principal: Principal, transportId: string, environment: string): Promise<Look> {
    return this.#look(await this.#liveAt(principal, transportId, environment))
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
        const record: SessionRecord = await this.#sessions.use(live, (session) => session.refresh())
        const { id, end, outside } = record
        // An end that an event made is told with the event; then there is one more step to wait for.
        const over = end !== null && !isEndUntold(record)
        const entries = await this.#sessions.guardStore(this.#store.readLog(id, { after, limit }))
        const left = deadline - this.#clock.monotonic()
        const events = outside?.pending.filter(({ revision }) => revision > after) ?? []
        if (entries.length > 0 || events.length > 0 || over || left <= 0 || signal?.aborted || this.#disposed)
          return {
            steps: entries.map(({ text }) => JSON.parse(text) as LoggedStep),
            ...(events.length > 0 && { events }),
            end,
          }
        await place.until(this.#clock, Math.min(left, WATCH_INTERVAL), signal)
      } finally {
        place.leave()
      }
    }
  }

  async publish(principal: Principal, control: string, { signal, ...event }: PublishRequest): Promise<PublishResult> {
    const live = await this.#sessions.controlled(principal, control)
    const { environment, session } = live
    assertEventId(event.id)
    assertEvent(environment, event)
    const { id } = session.record
    const result = await this.#sessions.use(live, () =>
      session.publish(event, (turn) => {
        signal?.throwIfAborted()
        return this.#faults.guard(environment.name, id, () => this.#rules.apply(environment, turn, event))
      }),
    )
    live.watchers.wake()
    return result
  }

  async *listen(capability: string, range: ListenRange = {}): AsyncGenerator<Announcement, void, undefined> {
    const found = this.#sessions.seated(capability)
    const { live } = found instanceof Promise ? await found : found
    yield* announcementsOf(live, range, { sessions: this.#sessions, store: this.#store, clock: this.#clock })
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
    this.#changes.stop()
    this.#sessions.release()
    if (this.#ownsStore) await this.#store[Symbol.asyncDispose]()
  }

  /** The world of a transport session; it opens where there is none yet. */
  async #liveAt(principal: Principal, transportId: string, environment: string): Promise<Live> {
    const found = await this.#transports.find(principal, transportId, environment)
    if (found) return found
    const live = await this.#beginnings.open(principal, { environment, requestKey: transportKey(transportId) })
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

  async #play(live: Live, seat: string, call: StepCall): Promise<Acted> {
    const { environment } = live
    const { action, seq, epoch, waiting } = call
    const began = this.#metrics ? this.#clock.monotonic() : 0
    const needed = toPrepare(environment, call.action)
    const inQueue = waiting && live.session.busy ? waiting.signal : undefined
    if (inQueue) waiting?.tell?.('Waiting for the calls before this one.')
    let acts = false
    const answered = this.#sessions.use(live, (session) =>
      session.step(
        { seat, action, seq, epoch },
        (turn) => {
          // What has been done outside is played, whoever waits for it.
          if (turn.prepared === undefined) inQueue?.throwIfAborted()
          return this.#told(
            live,
            call,
            this.#faults.guard(
              environment.name,
              turn.record.id,
              () => this.#rules.play(environment, turn, call.action, waiting),
              waiting,
            ),
          )
        },
        needed
          ? () => {
              inQueue?.throwIfAborted()
              acts = needed.preparation.external
              return createPreparation(environment, call, needed, { clock: this.#clock, faults: this.#faults })
            }
          : undefined,
      ),
    )
    const { step, replayed } = await (needed
      ? answered.catch((error) => {
          throw acts ? afterEffect(action.tool, error) : error
        })
      : answered)
    live.watchers.wake()
    this.#metrics?.step(environment.name, outcomeOf({ step, replayed }), this.#clock.monotonic() - began)
    return { step, replayed, secrets: live.secrets }
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

/** Throws `option-invalid` for a world that wants its own code run where the host is kept free of it. */
function assertUnprepared({ name, tools }: Environment): void {
  const preparing = Object.keys(tools).find((tool) => tools[tool]?.preparation)
  if (preparing === undefined) return
  throw new ServerError(
    'option-invalid',
    `Tool ${preparing} of ${name} prepares its steps, which is not done where the rules are isolated. Serve ${name} without isolation, beside a server with it.`,
  )
}

function outcomeOf({ step, replayed }: Answered): StepOutcome {
  if (replayed) return 'replayed'
  return step.report.refused === null ? 'played' : 'refused'
}
