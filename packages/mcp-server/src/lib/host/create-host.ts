import {
  type EnvironmentInfo,
  type MethodParams,
  type MethodResult,
  type OpenResult,
  WireError,
} from '@episodic/protocol'
import { type SessionRecord, systemClock } from '@episodic/state'
import { withSteadyNow } from '@episodic/state/internal'
import { createMemoryStore } from '@episodic/state/memory'
import { judgesLeft } from '../environment/definition/absent-action.ts'
import type { EnvironmentDefinition } from '../environment/definition/environment.ts'
import { directRules, type RulesRunner } from '../environment/rules/rules-runner.ts'
import { ServerError } from '../server-error.ts'
import type { Principal, SessionAddress } from './access/caller.ts'
import { equalSecrets, readClaim, type SessionTokens } from './access/session-tokens.ts'
import {
  type ControlAddress,
  DEFAULT_BOUNDS,
  type DumpQuery,
  type Host,
  type HostBounds,
  type HostOptions,
  type OpenRequest,
  type SessionRef,
  type SessionsQuery,
  type TrainerSessionRef,
} from './host.ts'
import { toEnvironmentInfo } from './open/open-session.ts'
import { SessionFactory } from './open/session-factory.ts'
import { Capacity } from './operate/capacity.ts'
import { dumpSession } from './operate/dump-session.ts'
import { Faults } from './operate/faults.ts'
import { listSessions } from './operate/list-sessions.ts'
import { withMetrics } from './operate/metered-store.ts'
import { InvitedPlayers, PlayerSession, verifyPlayer } from './references/invited-players.ts'
import { SeatSession } from './references/seat-session.ts'
import { ResolvedSession, type SessionParts, TrainerSession } from './references/session-ref.ts'
import { TransportSession, TransportSessions, verifyTransport } from './references/transport-sessions.ts'
import { type AtOnce, notFound, SessionCache } from './sessions/session-cache.ts'
import { Expiry, repeat } from './sessions/session-expiry.ts'
import { TurnFeed } from './sessions/turn-feed.ts'
import { SessionWriter } from './steps/step-session.ts'
import { StateSubscriptions } from './watch/state-subscription.ts'

/**
 * Creates a host. Throws `option-invalid` for no environments, two of one name, bounds that bound nothing, and an
 * environment that prepares its steps if the rules run in worker threads.
 */
export function createHost(options: HostOptions): Host {
  return new SessionHost(options)
}

/** The longest time between two sweeps, in milliseconds. */
const SWEEP_INTERVAL = 30_000

class SessionHost implements Host {
  readonly environments: readonly EnvironmentInfo[]
  readonly idleSeconds: number
  readonly sessionsPerPrincipal: number
  readonly connections: TransportSessions
  readonly players: InvitedPlayers
  readonly watchTurns: Host['watchTurns']
  readonly #definitions: readonly EnvironmentDefinition[]
  readonly #parts: SessionParts
  readonly #ownsStore: boolean
  readonly #expiry: Expiry
  readonly #stopping = new AbortController()
  readonly #stopSweeps: () => void

  constructor(options: HostOptions) {
    const { environments, store: given, clock: machine = systemClock, bounds: wanted, onLeft } = options
    const { metrics, containment, rules = directRules, onFault = () => {} } = options
    const bounds = { ...DEFAULT_BOUNDS, ...wanted }
    const { idleSeconds, queue, events, logBytes, textBytes } = bounds
    assertOptions(environments, bounds, rules)
    this.#definitions = environments
    this.environments = environments.map(toEnvironmentInfo)
    this.idleSeconds = idleSeconds
    this.sessionsPerPrincipal = bounds.sessionsPerPrincipal
    this.#ownsStore = !given
    const byName = new Map(environments.map((environment) => [environment.name, environment]))
    const clock = withSteadyNow(machine)
    const bare = given ?? createMemoryStore()
    const store = metrics ? withMetrics(bare, metrics, clock) : bare
    const capacity = new Capacity(store, bounds)
    const onLost = (session: string, refusal: WireError) => sessions.fail(session, refusal)
    const faults = new Faults({ onFault, metrics, containment, onLost })
    const turns = new TurnFeed()
    const common = { environments: byName, rules, store, clock, faults, events, metrics, turns }
    const sessions = new SessionCache({ ...common, idleSeconds, queue, logBytes, textBytes })
    this.#parts = {
      environments: this.environments,
      sessions,
      writer: new SessionWriter({ ...common, sessions, onLeft }),
      factory: new SessionFactory({ ...common, sessions, capacity }),
      subscriptions: new StateSubscriptions({ store, clock }),
      capacity,
      store,
      clock,
      waitSeconds: bounds.waitSeconds,
      rules,
      faults,
      metrics,
      tasks: new Map(),
      idleSeconds,
      stopping: this.#stopping.signal,
    }
    this.connections = new TransportSessions(this.#parts)
    this.players = new InvitedPlayers(this.#parts, options.reservedSeats)
    this.watchTurns = (listener) => sessions.guardStore(turns.watch(listener, { ...common, sessions }))
    const onRemoved = (id: string) => {
      capacity.removed(id)
      metrics?.expired()
    }
    const { writer } = this.#parts
    const judges = environments.some(judgesLeft)
    this.#expiry = new Expiry({ sessions, writer, store, clock, idleSeconds, judges, onRemoved })
    // A store that fails to sweep also fails its calls, which report it; the next sweep tries again.
    this.#stopSweeps = repeat(clock, Math.min(SWEEP_INTERVAL, (idleSeconds * 1_000) / 4), () => this.sweep())
  }

  open(principal: Principal, request: OpenRequest): Promise<OpenResult> {
    return this.#parts.factory.openDescribed(principal, request)
  }

  async restore(principal: Principal, request: MethodParams<'restore'>): Promise<OpenResult> {
    const { factory } = this.#parts
    return factory.describe(await factory.restore(principal, request))
  }

  resolve(principal: Principal, address: ControlAddress): AtOnce<TrainerSessionRef>
  resolve(principal: Principal, address: SessionAddress): AtOnce<SessionRef>
  resolve(principal: Principal, address: SessionAddress): AtOnce<SessionRef> {
    const { sessions } = this.#parts
    return sessions.tokens
      ? this.#verify(sessions.tokens, principal, address)
      : sessions.loadTokens().then((tokens) => this.#verify(tokens, principal, address))
  }

  /** An unknown, an expired and another's token get the same answer: what does not verify is not looked up. */
  #verify(tokens: SessionTokens, principal: Principal, address: SessionAddress): SessionRef {
    const { token } = address
    if (token === null) throw new WireError('invalid-request', 'Send the Mcp-Session-Id that initialize answered with.')
    if (address.by === 'transport' || address.by === 'argument') {
      const { environment, hold } = address
      if (this.#definitions.some(({ name, multiplayer }) => name === environment && multiplayer)) {
        const verified = verifyPlayer(tokens, principal, token, environment)
        return new PlayerSession(this.#parts, { ...verified, hold })
      }
      const verified = verifyTransport(tokens, principal, token, environment)
      return new TransportSession(this.#parts, this.connections, verified)
    }
    const claim = readClaim(token)
    if (!claim || ENDPOINTS[claim.kind] !== address.by) throw notFound()
    const { id } = claim
    // Deriving a token costs more than the rest of a look-up, and a cached session has its own.
    const cached = this.#parts.sessions.cached(id)
    if (claim.kind === 'control') {
      const issued = cached?.owner === principal ? cached.control : tokens.control(id, principal)
      if (!equalSecrets(issued, token)) throw notFound()
      return new TrainerSession(this.#parts, { principal, id, place: 0 }, cached)
    }
    const place = claim.seat
    if (claim.kind === 'seat') {
      if (!equalSecrets(cached?.seatHandles[place] ?? tokens.seatHandle(id, place), token)) throw notFound()
      return new SeatSession(this.#parts, { principal, id, place }, cached)
    }
    const issued = cached?.capabilities[place] ?? tokens.capability(id, place)
    if (!equalSecrets(issued, token)) throw notFound()
    const hold = address.by === 'control' ? undefined : address.hold
    return new ResolvedSession(this.#parts, { principal, id, place, hold }, cached)
  }

  findOpened(principal: Principal, requestKey: string): AtOnce<TrainerSessionRef> {
    const found = (tokens: SessionTokens) =>
      new TrainerSession(this.#parts, { principal, id: tokens.idFor(principal, requestKey), place: 0 })
    const { sessions } = this.#parts
    return sessions.tokens ? found(sessions.tokens) : sessions.loadTokens().then(found)
  }

  list(query: SessionsQuery) {
    const { sessions, store, clock } = this.#parts
    return sessions.guardStore(listSessions(store, query, clock.now()))
  }

  async dump(query: DumpQuery): Promise<MethodResult<'dump'>> {
    const { sessions, store, faults, rules } = this.#parts
    const secretsOf = ({ id, environment: { name, version }, state, params }: SessionRecord) => {
      const environment = this.#definitions.find((served) => served.name === name && served.version === version)
      if (!environment) return []
      return environment.seats.flatMap((seat) =>
        faults.guard(name, id, () => rules.secrets(environment, state, params, seat)),
      )
    }
    const dump = await sessions.guardStore(dumpSession(store, query, secretsOf))
    if (!dump) throw notFound()
    return dump
  }

  async ready(): Promise<void> {
    const { sessions, store } = this.#parts
    await sessions.guardStore(store.read('ready'))
    // A store that is full, or a replica, can be read, and no call can be answered.
    await sessions.guardStore(store.checkWritable())
  }

  async sweep(): Promise<number> {
    const { sessions, capacity } = this.#parts
    const swept = await this.#expiry.sweep()
    await sessions.starts.sweep()
    await sessions.guardStore(capacity.refresh())
    return swept
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { subscriptions, sessions, store } = this.#parts
    this.#stopping.abort()
    this.#stopSweeps()
    subscriptions.stop()
    await sessions.release()
    await sessions.starts.release()
    if (this.#ownsStore) await store[Symbol.asyncDispose]()
  }
}

/** The addresses at which each kind of token is good: a seat handle is one of the trainer endpoint. */
const ENDPOINTS = { control: 'control', seat: 'control', capability: 'capability' } as const

function assertOptions(
  environments: readonly EnvironmentDefinition[],
  bounds: HostBounds,
  rules: Pick<RulesRunner, 'prepares'>,
): void {
  if (environments.length === 0) throw new ServerError('option-invalid', 'A host needs at least one environment.')
  if (new Set(environments.map(({ name }) => name)).size < environments.length)
    throw new ServerError('option-invalid', 'Two environments of a host have the same name; a name opens one of them.')
  if (!rules.prepares) for (const environment of environments) assertUnprepared(environment)
  for (const [name, bound] of Object.entries(bounds))
    if (!(bound > 0 || (bound === 0 && name === 'waitSeconds')))
      throw new ServerError('option-invalid', `The bound ${name} is ${bound}, and has to be above 0.`)
}

/** A preparation would run in the thread that is kept free of the environments' code. */
function assertUnprepared({ name, tools }: EnvironmentDefinition): void {
  const preparing = Object.keys(tools).find((tool) => tools[tool]?.preparation)
  if (preparing === undefined) return
  throw new ServerError(
    'option-invalid',
    `Tool ${preparing} of ${name} prepares its steps, which worker threads do not support. Serve ${name} without worker threads, beside a server with them.`,
  )
}
