import { type MethodParams, type MethodResult, type OpenResult, WireError } from '@episodic/protocol'
import { type SessionRecord, systemClock } from '@episodic/state'
import { withSteadyNow } from '@episodic/state/internal'
import { createMemoryStore } from '@episodic/state/memory'
import { judgesLeft } from '../environment/definition/absent-action.ts'
import type { EnvironmentDefinition } from '../environment/definition/environment.ts'
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
import { createSessionFactory } from './open/session-factory.ts'
import { createCapacity } from './operate/capacity.ts'
import { dumpSession } from './operate/dump-session.ts'
import { createFaults } from './operate/faults.ts'
import { listSessions } from './operate/list-sessions.ts'
import { withMetrics } from './operate/metered-store.ts'
import { createInvitedPlayers, PlayerSession, verifyPlayer } from './references/invited-players.ts'
import { SeatSession } from './references/seat-session.ts'
import { ResolvedSession, type SessionParts, TrainerSession } from './references/session-ref.ts'
import { TransportSession, TransportSessions, verifyTransport } from './references/transport-sessions.ts'
import { type AtOnce, notFound, SessionCache } from './sessions/session-cache.ts'
import { createExpiry, repeat } from './sessions/session-expiry.ts'
import { TurnFeed } from './sessions/turn-feed.ts'
import { createSessionWriter } from './steps/step-session.ts'
import { StateSubscriptions } from './watch/state-subscription.ts'

/** Creates a host. Throws `option-invalid` for no environments, two of one name, and bounds that bound nothing. */
export function createHost(options: HostOptions): Host {
  const stopping = new AbortController()
  const { environments, store: given, clock: machine = systemClock, bounds: wanted, onLeft } = options
  const { metrics, containment, onFault = () => {} } = options
  const bounds = { ...DEFAULT_BOUNDS, ...wanted }
  const { idleSeconds, queue, events, logBytes, textBytes } = bounds
  assertOptions(environments, bounds)
  const infos = environments.map(toEnvironmentInfo)
  const byName = new Map(environments.map((environment) => [environment.name, environment]))
  const clock = withSteadyNow(machine)
  const bare = given ?? createMemoryStore()
  const store = metrics ? withMetrics(bare, metrics, clock) : bare
  const capacity = createCapacity(store, bounds)
  const onLost = (session: string, refusal: WireError) => sessions.fail(session, refusal)
  const faults = createFaults({ onFault, metrics, containment, onLost })
  const turns = new TurnFeed()
  const common = { environments: byName, store, clock, faults, events, metrics, turns }
  const sessions = new SessionCache({ ...common, idleSeconds, queue, logBytes, textBytes })
  const parts: SessionParts = {
    environments: infos,
    sessions,
    writer: createSessionWriter({ ...common, sessions, onLeft }),
    factory: createSessionFactory({ ...common, sessions, capacity }),
    subscriptions: new StateSubscriptions({ store, clock }),
    capacity,
    store,
    clock,
    waitSeconds: bounds.waitSeconds,
    faults,
    metrics,
    idleSeconds,
    stopping: stopping.signal,
  }
  const connections = new TransportSessions(parts)
  const onRemoved = (id: string) => {
    capacity.removed(id)
    metrics?.expired()
  }
  const judges = environments.some(judgesLeft)
  const expiry = createExpiry({ sessions, writer: parts.writer, store, clock, idleSeconds, judges, onRemoved })
  // A store that fails to sweep also fails its calls, which report it; the next sweep tries again.
  const stopSweeps = repeat(clock, Math.min(SWEEP_INTERVAL, (idleSeconds * 1_000) / 4), () => sweep())
  return {
    environments: infos,
    idleSeconds,
    sessionsPerPrincipal: bounds.sessionsPerPrincipal,
    connections,
    players: createInvitedPlayers(parts, options.reservedSeats),
    watchTurns: (listener) => sessions.guardStore(turns.watch(listener, { ...common, sessions })),
    open(principal: Principal, request: OpenRequest): Promise<OpenResult> {
      return parts.factory.openDescribed(principal, request)
    },
    async restore(principal: Principal, request: MethodParams<'restore'>): Promise<OpenResult> {
      return parts.factory.describe(await parts.factory.restore(principal, request))
    },
    resolve,
    findOpened(principal: Principal, requestKey: string): AtOnce<TrainerSessionRef> {
      const found = (tokens: SessionTokens) =>
        new TrainerSession(parts, { principal, id: tokens.idFor(principal, requestKey), place: 0 })
      return sessions.tokens ? found(sessions.tokens) : sessions.loadTokens().then(found)
    },
    list(query: SessionsQuery) {
      return sessions.guardStore(listSessions(store, query, clock.now()))
    },
    async dump(query: DumpQuery): Promise<MethodResult<'dump'>> {
      const secretsOf = ({ id, environment: { name, version }, state, params }: SessionRecord) => {
        if (!query.private && byName.get(name)?.version !== version) return []
        const environment = sessions.environmentOf(name, version)
        return environment.seats.flatMap((seat) =>
          faults.guard(name, id, () => environment.secrets?.(state, params, seat) ?? []),
        )
      }
      const dump = await sessions.guardStore(dumpSession(store, query, secretsOf))
      if (!dump) throw notFound()
      return dump
    },
    async ready(): Promise<void> {
      await sessions.guardStore(store.read('ready'))
      // A store that is full, or a replica, can be read, and no call can be answered.
      await sessions.guardStore(store.checkWritable())
    },
    sweep,
    async [Symbol.asyncDispose](): Promise<void> {
      stopping.abort()
      stopSweeps()
      parts.subscriptions.stop()
      await sessions.release()
      await sessions.starts.release()
      if (!given) await store[Symbol.asyncDispose]()
    },
  }

  function resolve(principal: Principal, address: ControlAddress): AtOnce<TrainerSessionRef>
  function resolve(principal: Principal, address: SessionAddress): AtOnce<SessionRef>
  function resolve(principal: Principal, address: SessionAddress): AtOnce<SessionRef> {
    return sessions.tokens
      ? verify(sessions.tokens, principal, address)
      : sessions.loadTokens().then((tokens) => verify(tokens, principal, address))
  }

  /** An unknown, an expired and another's token get the same answer: what does not verify is not looked up. */
  function verify(tokens: SessionTokens, principal: Principal, address: SessionAddress): SessionRef {
    const { token } = address
    if (token === null) throw new WireError('invalid-request', 'Send the Mcp-Session-Id that initialize answered with.')
    if (address.by === 'transport' || address.by === 'argument') {
      const { environment, hold } = address
      if (environments.some(({ name, multiplayer }) => name === environment && multiplayer)) {
        const verified = verifyPlayer(tokens, principal, token, environment)
        return new PlayerSession(parts, { ...verified, hold })
      }
      const verified = verifyTransport(tokens, principal, token, environment)
      return new TransportSession(parts, connections, verified)
    }
    const claim = readClaim(token)
    if (!claim || ENDPOINTS[claim.kind] !== address.by) throw notFound()
    const { id } = claim
    // Deriving a token costs more than the rest of a look-up, and a cached session has its own.
    const cached = sessions.cached(id)
    if (claim.kind === 'control') {
      const issued = cached?.owner === principal ? cached.control : tokens.control(id, principal)
      if (!equalSecrets(issued, token)) throw notFound()
      return new TrainerSession(parts, { principal, id, place: 0 }, cached)
    }
    const place = claim.seat
    if (claim.kind === 'seat') {
      if (!equalSecrets(cached?.seatHandles[place] ?? tokens.seatHandle(id, place), token)) throw notFound()
      return new SeatSession(parts, { principal, id, place }, cached)
    }
    const issued = cached?.capabilities[place] ?? tokens.capability(id, place)
    if (!equalSecrets(issued, token)) throw notFound()
    const hold = address.by === 'control' ? undefined : address.hold
    return new ResolvedSession(parts, { principal, id, place, hold }, cached)
  }

  async function sweep(): Promise<number> {
    const swept = await expiry.sweep()
    await sessions.starts.sweep()
    await sessions.guardStore(capacity.refresh())
    return swept
  }
}

/** The longest time between two sweeps, in milliseconds. */
const SWEEP_INTERVAL = 30_000

/** The addresses at which each kind of token is good: a seat handle is one of the trainer endpoint. */
const ENDPOINTS = { control: 'control', seat: 'control', capability: 'capability' } as const

function assertOptions(environments: readonly EnvironmentDefinition[], bounds: HostBounds): void {
  if (environments.length === 0) throw new ServerError('option-invalid', 'A host needs at least one environment.')
  if (new Set(environments.map(({ name }) => name)).size < environments.length)
    throw new ServerError('option-invalid', 'Two environments of a host have the same name; a name opens one of them.')
  for (const [name, bound] of Object.entries(bounds))
    if (!(bound > 0 || (bound === 0 && name === 'waitSeconds')))
      throw new ServerError('option-invalid', `The bound ${name} is ${bound}, and has to be above 0.`)
}
