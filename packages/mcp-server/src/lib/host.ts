import {
  type Action,
  type CloseResult,
  DEFAULT_LIMITS,
  DEFAULT_SEAT,
  type EnvironmentInfo,
  type JsonObject,
  type Limits,
  type LimitsRequest,
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
  encodeSession,
  Session,
  type SessionRecord,
  type SessionStore,
  StateError,
  type StoredSession,
  sessionNotFound,
  systemClock,
} from '@episodic/state'
import { createMemoryStore } from '@episodic/state/memory'
import type { Environment } from './environment.ts'
import { createHandles, equalSecrets, type Handles, randomText, readClaim } from './handles.ts'
import { explain, playAction, startWorld } from './rules.ts'
import { ServerError } from './server-error.ts'

export interface HostOptions {
  /** What can be opened. A plain client that names none gets the first. */
  readonly environments: readonly Environment[]
  /** Where sessions live; in memory unless given. The host does not close a store that it was given. */
  readonly store?: SessionStore
  readonly clock?: Clock
  readonly bounds?: Partial<HostBounds>
  /** Hears of every fault of an environment's own code, with the reference that the caller was given. */
  readonly onFault?: (fault: Fault) => void
}

/** The bounds of everything that could grow. */
export interface HostBounds {
  /** Sessions kept at once, ended ones included until they are closed or expire. Default 10,000. */
  readonly sessions: number
  /** Seconds after its last finished call until a session expires. Default 900. */
  readonly idleSeconds: number
  /** Calls that may wait for one session, the running one included. Default 64. */
  readonly queue: number
}

export const DEFAULT_BOUNDS: HostBounds = { sessions: 10_000, idleSeconds: 900, queue: 64 }

/** An environment's code failed. */
export interface Fault {
  /** What the caller was told instead of the cause. */
  readonly reference: string
  readonly environment: string
  readonly session: string
  readonly cause: unknown
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

/** One step of one seat. `seq` and `epoch` as in the step protocol; without `seq` a call is at most once. */
export interface StepCall {
  readonly action: Action
  readonly seq?: number | undefined
  readonly epoch?: number | undefined
}

/** Whoever proved who they are; `null` for nobody in particular. */
export type Principal = string | null

/**
 * Plays environments: opens sessions, steps them, watches, expires and closes them.
 *
 * The only way to a session, for every door. Rejects with `WireError`, whose code and message are fit for the
 * trusted door; the agent's door says less.
 */
export interface Host extends AsyncDisposable {
  readonly environments: readonly EnvironmentInfo[]
  open(principal: Principal, request: OpenRequest): Promise<OpenResult>
  /** Steps the session of a control handle, at the trusted door. */
  step(principal: Principal, control: string, call: StepCall): Promise<Answered>
  /** Steps the seat of an agent capability, at the agent's door. */
  act(capability: string, call: StepCall): Promise<Answered>
  /** Steps the world of a plain client's transport session, opening it at the first call. */
  actAt(principal: Principal, transportId: string, environment: string, call: StepCall): Promise<Answered>
  state(principal: Principal, control: string): Promise<StateResult>
  watch(principal: Principal, control: string, range: WatchRange): Promise<WatchResult>
  close(principal: Principal, control: string): Promise<CloseResult>
  /** Names a new plain client. Nothing is kept for it until it plays. */
  issueTransport(): Promise<string>
  /** Which environment a capability plays. */
  environmentOf(capability: string): Promise<EnvironmentInfo>
  /** Throws `session-not-found` for a transport session that was not issued here, has expired or was ended. */
  checkTransport(principal: Principal, transportId: string): Promise<void>
  /** Ends a plain client's transport session, and with it the world that it played. */
  endTransport(principal: Principal, transportId: string, environment: string): Promise<void>
  /** Live sessions, for an operator. */
  sessions(page: {
    readonly after?: string | undefined
    readonly limit: number
  }): Promise<{ total: number; sessions: SessionSummary[] }>
  /** Removes what has been idle too long and says how many. Runs by itself, too. */
  sweep(): Promise<number>
}

export interface WatchRange {
  readonly after: number
  readonly limit: number
  /** Seconds to wait for the first entry. */
  readonly wait: number
  readonly signal?: AbortSignal | undefined
}

/** Creates a host. Throws `option-invalid` for no environments, two of one name, or bounds that bound nothing. */
export function createHost(options: HostOptions): Host {
  return new SessionHost(options)
}

/** A session that this process has in hand. */
interface Live {
  readonly session: Session
  readonly environment: Environment
  readonly control: string
  readonly capabilities: readonly string[]
  /** Woken at every commit that this process makes. */
  readonly watchers: Set<() => void>
  /** Monotonic milliseconds of the last finished call. */
  touched: number
}

/** How many sessions one slice of a sweep removes before it lets other work through. */
const SWEEP_SLICE = 200
/** Seats of a session. More than one is for worlds that name them. */
const SEATS = [DEFAULT_SEAT]

class SessionHost implements Host {
  readonly environments: readonly EnvironmentInfo[]
  readonly #byName: ReadonlyMap<string, Environment>
  readonly #store: SessionStore
  readonly #ownsStore: boolean
  readonly #clock: Clock
  readonly #bounds: HostBounds
  readonly #onFault: (fault: Fault) => void
  readonly #live = new Map<string, Live>()
  #handles: Promise<Handles> | null = null
  #stopSweep: () => void = () => {}
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
    this.#onFault = onFault
    this.#scheduleSweep()
  }

  async open(principal: Principal, request: OpenRequest): Promise<OpenResult> {
    const environment = this.#byName.get(request.environment)
    if (!environment)
      throw new WireError(
        'unknown-environment',
        `There is no environment "${request.environment}" here. There is: ${[...this.#byName.keys()].join(', ')}.`,
      )
    if (request.version !== undefined && request.version !== environment.version)
      throw new WireError(
        'unknown-environment',
        `${environment.name} is served in version ${environment.version}, and version ${request.version} was asked for. Make the tasks anew, or serve that version.`,
      )
    const parsed = environment.params.safeParse(request.params ?? {})
    if (!parsed.success)
      throw new WireError('invalid-params', `Wrong parameters for ${environment.name}: ${explain(parsed.error)}.`)
    const params = parsed.data as JsonObject
    const handles = await this.#proofs()
    const id = handles.idFor(principal, request.requestKey)
    const existing = await this.#lookup(id)
    if (existing) return this.#opened(existing, environment.name)
    if ((await this.#store.count()) >= this.#bounds.sessions)
      throw new WireError(
        'capacity',
        `All ${this.#bounds.sessions} sessions are in use. Close one, or try again later.`,
        { details: { retryAfterSeconds: Math.min(30, this.#bounds.idleSeconds) } },
      )
    const seed = request.seed ?? randomText()
    const record = this.#startRecord(id, principal, environment, params, seed, request.limits ?? {})
    await this.#fromStore(this.#store.create(encodeSession(record)))
    // Lost the race against a twin of this request, or won it: either way the store now has the session.
    const live = await this.#lookup(id)
    if (!live) throw notFound()
    return this.#opened(live, environment.name)
  }

  async step(principal: Principal, control: string, call: StepCall): Promise<Answered> {
    return this.#play(await this.#controlled(principal, control), DEFAULT_SEAT, call)
  }

  async act(capability: string, call: StepCall): Promise<Answered> {
    const { live, seat } = await this.#seated(capability)
    return this.#play(live, seat, call)
  }

  async actAt(principal: Principal, transportId: string, environment: string, call: StepCall): Promise<Answered> {
    const handles = await this.#proofs()
    await this.checkTransport(principal, transportId)
    const requestKey = transportKey(transportId)
    let live = await this.#lookup(handles.idFor(principal, requestKey))
    if (!live) {
      await this.open(principal, { environment, requestKey })
      live = await this.#lookup(handles.idFor(principal, requestKey))
    }
    if (!live) throw notFound()
    return this.#play(live, DEFAULT_SEAT, call)
  }

  async state(principal: Principal, control: string): Promise<StateResult> {
    const live = await this.#controlled(principal, control)
    const record = await this.#onSession(live, () => live.session.refresh())
    const { id, environment, revision, epoch, now, state, end } = record
    const seats = Object.fromEntries(Object.entries(record.seats).map(([seat, { seq }]) => [seat, { seq }]))
    return { id, environment, revision, epoch, seats, now, state, end }
  }

  async watch(principal: Principal, control: string, range: WatchRange): Promise<WatchResult> {
    const live = await this.#controlled(principal, control)
    const deadline = this.#clock.monotonic() + range.wait * 1_000
    for (;;) {
      const woken = wakeable(live.watchers)
      try {
        const entries = await this.#fromStore(this.#store.readLog(live.session.record.id, range))
        const left = deadline - this.#clock.monotonic()
        const { end } = live.session.record
        if (entries.length > 0 || end || left <= 0 || range.signal?.aborted)
          return { steps: entries.map(({ text }) => JSON.parse(text) as LoggedStep), end }
        // Another process on the same store may commit, and its commits wake nobody here: look again in a second.
        await woken.wait(this.#clock, Math.min(left, 1_000), range.signal)
        await this.#onSession(live, () => live.session.refresh())
      } finally {
        woken.forget()
      }
    }
  }

  async close(principal: Principal, control: string): Promise<CloseResult> {
    const live = await this.#controlled(principal, control)
    const end = await this.#end(live)
    await this.#remove(live.session.record.id)
    return { end }
  }

  async issueTransport(): Promise<string> {
    return (await this.#proofs()).transport(Math.floor(this.#clock.now() / 1_000))
  }

  async environmentOf(capability: string): Promise<EnvironmentInfo> {
    const { live } = await this.#seated(capability)
    return this.environments.find(({ name }) => name === live.environment.name) as EnvironmentInfo
  }

  async checkTransport(principal: Principal, transportId: string): Promise<void> {
    const handles = await this.#proofs()
    const issuedAt = handles.transportIssuedAt(transportId)
    if (issuedAt === null) throw notFound()
    const live = await this.#lookup(handles.idFor(principal, transportKey(transportId)))
    if (live ? isClosed(live.session.record) : this.#clock.now() / 1_000 - issuedAt > this.#bounds.idleSeconds)
      throw notFound()
  }

  async endTransport(principal: Principal, transportId: string, environment: string): Promise<void> {
    await this.checkTransport(principal, transportId)
    const handles = await this.#proofs()
    const requestKey = transportKey(transportId)
    const id = handles.idFor(principal, requestKey)
    // The ended record stays until it expires, so that the id is refused from now on and not opened anew.
    if (!(await this.#lookup(id))) await this.open(principal, { environment, requestKey })
    const live = await this.#lookup(id)
    if (live) await this.#end(live, { evenIfEnded: true })
  }

  async sessions(page: { readonly after?: string | undefined; readonly limit: number }) {
    const now = this.#clock.now()
    const [total, stored] = await this.#fromStore(Promise.all([this.#store.count(), this.#store.list(page)]))
    return { total, sessions: stored.map((session) => summarise(session, now)) }
  }

  async sweep(): Promise<number> {
    const idle = this.#bounds.idleSeconds * 1_000
    let swept = 0
    for (;;) {
      const ids = await this.#store.idle({ before: this.#clock.now() - idle, limit: SWEEP_SLICE })
      const expired = ids.filter((id) => !this.#inUse(id, idle))
      for (const id of expired) await this.#remove(id)
      swept += expired.length
      if (expired.length < SWEEP_SLICE || this.#disposed) return swept
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed = true
    this.#stopSweep()
    for (const { watchers } of this.#live.values()) for (const wake of watchers) wake()
    this.#live.clear()
    if (this.#ownsStore) await this.#store[Symbol.asyncDispose]()
  }

  #startRecord(
    id: string,
    owner: Principal,
    environment: Environment,
    params: JsonObject,
    seed: string,
    requested: LimitsRequest,
  ): SessionRecord {
    const start = this.#guarded(environment, id, () => startWorld(environment, params, seed))
    const now = this.#clock.now()
    return {
      id,
      owner,
      environment: { name: environment.name, version: environment.version },
      params,
      seed,
      limits: mergeLimits(environment.limitsFor(params), requested),
      createdAt: now,
      touchedAt: now,
      revision: 0,
      epoch: 1,
      rng: start.rng,
      now: 0,
      state: start.state,
      end: null,
      seats: Object.fromEntries(SEATS.map((seat) => [seat, { seq: 0, last: null }])),
      history: [],
    }
  }

  /** What an opener is told. Made anew from parameters and seed, so that asking again gives the same answer. */
  #opened(live: Live, asked: string): OpenResult {
    const { environment, control, capabilities, session } = live
    const { id, epoch, params, seed, limits } = session.record
    if (environment.name !== asked)
      throw new WireError(
        'invalid-params',
        'This request key has opened a session of another environment. Make a new key.',
      )
    const start = startWorld(environment, params, seed)
    return {
      id,
      session: control,
      epoch,
      environment: { name: environment.name, version: environment.version },
      params,
      seed,
      limits,
      seats: Object.fromEntries(
        SEATS.map((seat, i) => [seat, { capability: capabilities[i] as string, observation: start.observation }]),
      ),
      potential: start.potential,
    }
  }

  async #play(live: Live, seat: string, call: StepCall): Promise<Answered> {
    const { environment, session } = live
    const answered = await this.#onSession(live, () =>
      session.step({ seat, ...call }, (turn) =>
        this.#guarded(environment, turn.record.id, () => playAction(environment, turn, call.action)),
      ),
    )
    for (const wake of live.watchers) wake()
    return answered
  }

  async #end(live: Live, { evenIfEnded = false } = {}): Promise<NonNullable<SessionRecord['end']>> {
    const closed = { kind: 'truncated', reason: 'closed' } as const
    const record = await this.#onSession(live, () =>
      live.session.advance(({ record }) => (record.end && !evenIfEnded ? null : { end: closed })),
    )
    for (const wake of live.watchers) wake()
    return record.end ?? closed
  }

  async #controlled(principal: Principal, control: string): Promise<Live> {
    const claim = readClaim(control)
    const live = claim?.kind === 'control' ? await this.#lookup(claim.id) : null
    if (!live || live.session.record.owner !== principal || !equalSecrets(live.control, control)) throw notFound()
    return live
  }

  async #seated(capability: string): Promise<{ live: Live; seat: string }> {
    const claim = readClaim(capability)
    const live = claim?.kind === 'capability' ? await this.#lookup(claim.id) : null
    const seat = claim?.kind === 'capability' ? SEATS[claim.seat] : undefined
    const expected = claim?.kind === 'capability' ? live?.capabilities[claim.seat] : undefined
    if (!live || seat === undefined || expected === undefined || !equalSecrets(expected, capability)) throw notFound()
    return { live, seat }
  }

  /** The session of an id, from hand or from the store. */
  async #lookup(id: string): Promise<Live | null> {
    const known = this.#live.get(id)
    if (known) return known
    const [handles, stored] = await Promise.all([this.#proofs(), this.#fromStore(this.#store.read(id))])
    // Two calls may have looked it up at once: both must get the one whose queue keeps them in order.
    const raced = this.#live.get(id)
    if (raced || !stored) return raced ?? null
    const { environment: wanted, owner } = decodeSession(stored)
    const environment = this.#byName.get(wanted.name)
    if (environment?.version !== wanted.version)
      throw new WireError(
        'unknown-environment',
        `This session plays ${wanted.name} ${wanted.version}, which is not served here. Serve that version, or open a new session.`,
      )
    const { queue } = this.#bounds
    const live: Live = {
      session: new Session(stored, { store: this.#store, clock: this.#clock, history: environment.history, queue }),
      environment,
      control: handles.control(id, owner),
      capabilities: SEATS.map((_, seat) => handles.capability(id, seat)),
      watchers: new Set(),
      touched: this.#clock.monotonic(),
    }
    this.#live.set(id, live)
    return live
  }

  /** Runs a call on a session, marks the session as used once it is finished, and translates what it throws. */
  async #onSession<T>(live: Live, run: () => Promise<T>): Promise<T> {
    try {
      return await run()
    } catch (error) {
      if (StateError.is(error, 'session-not-found')) this.#live.delete(live.session.record.id)
      if (StateError.is(error, 'not-json') || StateError.is(error, 'too-large'))
        throw this.#fault(live.environment, live.session.record.id, error)
      throw translate(error)
    } finally {
      live.touched = this.#clock.monotonic()
    }
  }

  async #fromStore<T>(work: Promise<T>): Promise<T> {
    try {
      return await work
    } catch (error) {
      throw translate(error)
    }
  }

  #guarded<T>(environment: Environment, session: string, run: () => T): T {
    try {
      return run()
    } catch (cause) {
      throw this.#fault(environment, session, cause)
    }
  }

  #fault(environment: Environment, session: string, cause: unknown): WireError {
    const reference = randomText()
    this.#onFault({ reference, environment: environment.name, session, cause })
    const what = cause instanceof Error ? cause.message : String(cause)
    return new WireError(
      'environment-failed',
      `The environment ${environment.name} failed, and the call changed nothing: ${what}`,
      {
        cause,
        details: { reference },
      },
    )
  }

  async #remove(id: string): Promise<void> {
    const live = this.#live.get(id)
    this.#live.delete(id)
    await this.#fromStore(this.#store.remove(id))
    for (const wake of live?.watchers ?? []) wake()
  }

  #inUse(id: string, idle: number): boolean {
    const live = this.#live.get(id)
    return live !== undefined && (live.session.busy || this.#clock.monotonic() - live.touched < idle)
  }

  #proofs(): Promise<Handles> {
    this.#handles ??= this.#fromStore(this.#store.secret()).then(createHandles)
    return this.#handles
  }

  #scheduleSweep(): void {
    if (this.#disposed) return
    this.#stopSweep = this.#clock.after(Math.min(30_000, (this.#bounds.idleSeconds * 1_000) / 4), () => {
      // A store that fails to sweep fails its calls too, and they say so; the next sweep tries again.
      this.sweep().then(
        () => this.#scheduleSweep(),
        () => this.#scheduleSweep(),
      )
    })
  }
}

function describeEnvironment(environment: Environment): EnvironmentInfo {
  const { name, version, description, paramsSchema, toolInfos: tools, terms, hasPotential: potential } = environment
  const defaults = environment.params.safeParse({})
  const limits = mergeLimits(defaults.success ? environment.limitsFor(defaults.data) : {}, {})
  return { name, version, description, paramsSchema, tools, terms, potential, limits }
}

function mergeLimits(own: LimitsRequest, requested: LimitsRequest): Limits {
  return {
    steps: requested.steps ?? own.steps ?? DEFAULT_LIMITS.steps,
    seconds: requested.seconds ?? own.seconds ?? DEFAULT_LIMITS.seconds,
    bytes: requested.bytes ?? own.bytes ?? DEFAULT_LIMITS.bytes,
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
    bytes: new TextEncoder().encode(stored.head + stored.state).length,
    steps: Object.values(record.seats).reduce((sum, { seq }) => sum + seq, 0),
    history: record.history.length,
    end: record.end,
  }
}

/** A plain client's request key is its transport id, kept apart from the keys that openers make. */
function transportKey(transportId: string): string {
  return `transport ${transportId}`
}

function isClosed({ end }: SessionRecord): boolean {
  return end?.kind === 'truncated' && end.reason === 'closed'
}

function notFound(): WireError {
  return translate(sessionNotFound()) as WireError
}

/** What a session or a store refuses, as the wire says it. Anything else is passed on as it is. */
function translate(error: unknown): unknown {
  if (!StateError.is(error)) return error
  switch (error.code) {
    case 'session-not-found':
    case 'seq-conflict':
    case 'seq-reused':
    case 'fenced':
    case 'episode-ended':
    case 'store-unavailable':
      return new WireError(error.code, error.message, { cause: error, details: error.details })
    case 'queue-full':
      return new WireError('rate-limited', error.message, { cause: error, details: { retryAfterSeconds: 1 } })
    default:
      return error
  }
}

/** One watcher's place among those that a commit wakes. */
function wakeable(watchers: Set<() => void>) {
  let wake: () => void = () => {}
  const woken = new Promise<void>((resolve) => {
    wake = resolve
  })
  watchers.add(wake)
  return {
    async wait(clock: Clock, milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
      const callOff = clock.after(milliseconds, wake)
      signal?.addEventListener('abort', wake, { once: true })
      await woken
      callOff()
      signal?.removeEventListener('abort', wake)
    },
    forget: () => watchers.delete(wake),
  }
}
