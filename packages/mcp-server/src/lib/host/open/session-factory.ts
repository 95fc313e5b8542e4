import {
  canonicalJson,
  contentId,
  type JsonObject,
  type MethodParams,
  type OpenResult,
  type SessionSnapshot,
  seedFor,
  WireError,
} from '@episodic/protocol'
import { invalidParams } from '@episodic/protocol/internal'
import type { SessionRecord } from '@episodic/state'
import { answeredIn, type HeldSession } from '@episodic/state/internal'
import type { Secrets } from '../../environment/answer/secrets.ts'
import type { EnvironmentDefinition } from '../../environment/definition/environment.ts'
import { snapshotOf } from '../../environment/rules/snapshot-of.ts'
import type { Principal } from '../access/caller.ts'
import type { ForkRequest, OpenRequest, PresentedState, SnapshotQuery } from '../host.ts'
import type { Capacity } from '../operate/capacity.ts'
import { SessionRules } from '../operate/faults.ts'
import type { Metrics } from '../operate/metrics.ts'
import type { CachedSession, SessionCache, SessionCacheOptions } from '../sessions/session-cache.ts'
import type { TurnFeed } from '../sessions/turn-feed.ts'
import { takingTurns } from '../yield-to-event-loop.ts'
import { assertSameOpening, chooseEnvironment, type SeenAtStart, startRecord, toOpenResult } from './open-session.ts'
import { replayTo } from './replay-log.ts'
import { readSnapshot } from './restore-snapshot.ts'
import { baseAt, recordAt, type Snapshot } from './snapshot.ts'

export interface SessionFactoryOptions
  extends Pick<SessionCacheOptions, 'environments' | 'store' | 'clock' | 'events' | 'faults'> {
  readonly sessions: SessionCache
  readonly capacity: Capacity
  readonly metrics: Metrics | undefined
  readonly turns: Pick<TurnFeed, 'notify'>
}

interface FirstPlayers {
  readonly id: string
  seated(seats: readonly string[]): SessionRecord['players'] & object
}

interface InProgress {
  readonly begun: Promise<readonly CachedSession[]>
  readonly signal: AbortSignal | undefined
}

/** Sessions that are stored in one turn of the event loop: a store may write them at once. */
const BATCH = 64

/** UTF-8 bytes, about, that the answer to one fork may have. */
const ANSWER_BYTES = 67_108_864

export type SessionFactory = ReturnType<typeof createSessionFactory>

/**
 * Creates sessions: at the start of an environment, from a snapshot, or as forks of another session at any of its
 * steps.
 *
 * A request creates its sessions once, even if it is repeated: its key determines their ids, so a repeat finds them.
 */
export function createSessionFactory(options: SessionFactoryOptions) {
  const beginning = new Map<string, InProgress>()
  return {
    async openDescribed(owner: Principal, request: OpenRequest): Promise<OpenResult> {
      const { cached, seen } = await openWith(owner, request)
      return describe(cached, seen)
    },
    async open(owner: Principal, request: OpenRequest, players?: FirstPlayers): Promise<CachedSession> {
      const { cached } = await openWith(owner, request, players)
      return cached
    },
    async restore(owner: Principal, { snapshot, requestKey }: MethodParams<'restore'>): Promise<CachedSession> {
      const { environments, sessions } = options
      const environment = chooseEnvironment(environments, {
        environment: snapshot.environment.name,
        version: snapshot.environment.version,
      })
      const id = (await sessions.loadTokens()).idFor(owner, requestKey)
      const rules = rulesOf(environment, id)
      const restored = await rules.guard(() => readSnapshot(environment, snapshot))
      const request = contentId(canonicalJson({ restore: snapshot as unknown as JsonObject }))
      const cached = await openOne(id, owner, async () => {
        const { seed, state, params, seats } = restored.record
        // Before anything is stored: a state that the rules cannot observe is one that they cannot play.
        for (const seat of Object.keys(seats)) await rules.observe(state, params, seat)
        const base = baseAt(restored, { request, freshChance: false })
        const record = recordAt(restored, base, { id, owner, seed, createdAt: options.clock.now() })
        return { record, kept: restored.kept, pools: [] }
      })
      assertSameOrigin(cached, request)
      return cached
    },
    /** Creates `count` sessions from `parent`'s present state, or from that after `at` steps: all of them or none. */
    async fork(parent: CachedSession, asked: ForkRequest): Promise<readonly OpenResult[]> {
      const { requestKey, at = null, count = 1, seed = null, signal } = asked
      const { name, forkable } = parent.environment
      if (!forkable)
        throw invalidParams(
          `${name} keeps a part of its state outside of its sessions, so that they cannot be forked. Open another one.`,
        )
      const { sessions, clock } = options
      const { id, owner } = parent.session.record
      const ids = (await sessions.loadTokens()).idsFor(owner, requestKey, count)
      const request = contentId(canonicalJson({ fork: id, at, count, seed }))
      const forks = await once(ids, () => findOrFork(parent, { ...asked, ids, request }), signal)
      const giveTurn = takingTurns(clock)
      const opened: OpenResult[] = []
      for (const fork of forks) {
        assertSameOrigin(fork, request)
        opened.push(await describe(fork))
        await giveTurn()
      }
      return opened
    },
    async snapshot(cached: CachedSession, query: SnapshotQuery): Promise<SessionSnapshot> {
      return snapshotOf(await snapshotAt(cached, query))
    },
    /** Resolves with what a seat of a session observes; with `null` if `observe` fails, which is reported. */
    async present(cached: CachedSession, seat: string): Promise<PresentedState | null> {
      const { rules, session, secrets, environment } = cached
      // Another process may have played the step that changed the tools.
      if (environment.offers) await options.sessions.use(cached, () => session.refresh())
      const { state, params } = session.record
      try {
        const { text, tools } = (await rules.observe(state, params, seat)).observation
        return { observation: text, tools, secrets: secrets[seat] as Secrets }
      } catch (error) {
        if (WireError.is(error, 'environment-failed')) return null
        throw error
      }
    },
    /** Resolves with the first observation of a session to open, and stores nothing; `null` if it cannot be opened. */
    async foresee(owner: Principal, request: OpenRequest & { readonly seed: string }): Promise<PresentedState | null> {
      const { environments, sessions, clock } = options
      const environment = chooseEnvironment(environments, request)
      const id = (await sessions.loadTokens()).idFor(owner, request.requestKey)
      const own = rulesOf(environment, id)
      try {
        const { record } = await own.guard(() => startRecord(environment, { id, owner, now: clock.now() }, request))
        const seat = environment.seats[0] as string
        const { text, tools } = (await own.observe(record.state, record.params, seat)).observation
        return { observation: text, tools, secrets: await sessions.secretsOf(record, environment, seat) }
      } catch (error) {
        if (WireError.is(error)) return null
        throw error
      }
    },
    describe,
  }

  /** `seen` is what the seats observe first, if this call has started the session, and else `null`. */
  async function openWith(
    owner: Principal,
    request: OpenRequest,
    players?: FirstPlayers,
  ): Promise<{ readonly cached: CachedSession; readonly seen: SeenAtStart | null }> {
    const { environments, sessions } = options
    const environment = chooseEnvironment(environments, request)
    const id = players?.id ?? (sessions.tokens ?? (await sessions.loadTokens())).idFor(owner, request.requestKey)
    let created: SessionRecord | null = null
    let seen: SeenAtStart | null = null
    const cached = await openOne(id, owner, async () => {
      const identity = { id, owner, now: options.clock.now() }
      const started = await rulesOf(environment, id).guard(() => startRecord(environment, identity, request))
      const { record: alone } = started
      const record = players ? { ...alone, players: players.seated(Object.keys(alone.seats)) } : alone
      created = record
      seen = started.seen
      return { record, kept: started.kept, pools: [] }
    })
    if (cached.environment !== environment)
      throw invalidParams('This request key has opened a session of another environment. Make a new key.')
    if (cached.session.record === created) return { cached, seen }
    assertSameOpening(cached, request)
    return { cached, seen: null }
  }

  function describe(cached: CachedSession, seen: SeenAtStart | null = null): Promise<OpenResult> {
    return cached.rules.guard(() => toOpenResult(options, cached, seen))
  }

  async function snapshotAt(cached: CachedSession, { at, signal }: SnapshotQuery): Promise<Snapshot> {
    const { sessions, store, clock, events } = options
    const { session, environment, rules } = cached
    const present = await sessions.use(cached, () => session.readWithState())
    const { record } = present
    const answered = answeredIn(record.seats)
    // Outside events since the last step belong to the present, and not to that step.
    const unchanged = !record.end && !record.outside?.pending.length
    if (at === undefined || (at === answered && unchanged)) return present
    const begun = record.base ? answeredIn(record.base.seats) : 0
    if (at < begun || at > answered)
      throw invalidParams(
        `This session has no state after ${at} steps: it starts after ${begun} and has answered ${answered}.`,
        { details: { begun, answered } },
      )
    const read = at > begun ? await sessions.guardStore(session.readAfter(at)) : null
    if (read) return read
    const setting = { rules, store, environment, events, giveTurn: takingTurns(clock), signal }
    const snapshot = await sessions.guardStore(replayTo({ ...present, at }, setting))
    if (snapshot) return snapshot
    // The log is shorter than it was: the session was removed, or else the store has lost some of it.
    await sessions.use(cached, () => session.refresh())
    throw new WireError('state-lost', 'The store lost steps of this session, so its earlier state is not known.')
  }

  async function findOrFork(
    parent: CachedSession,
    { ids, request, at, seed, signal }: ForkRequest & { readonly ids: readonly string[]; readonly request: string },
  ): Promise<readonly CachedSession[]> {
    const { clock } = options
    const { owner, seed: parentSeed } = parent.session.record
    const known = await findForks(ids)
    for (const cached of known.values()) assertSameOrigin(cached, request)
    if (known.size === ids.length) return [...known.values()]
    if (known.size > 0)
      throw invalidParams(
        `Of the ${ids.length} forks of this request key, ${ids.length - known.size} are gone: they were closed or have expired, or the server stopped while it made them. Make a new key.`,
        { details: { asked: ids.length, left: known.size } },
      )
    const snapshot = await snapshotAt(parent, { at, signal })
    await assertForkable(parent, snapshot, ids.length)
    const base = baseAt(snapshot, { request, freshChance: seed !== undefined })
    const twin = recordAt(snapshot, base, { id: '', owner, createdAt: clock.now(), seed: parentSeed })
    const create = ([place, id]: readonly [number, string]): HeldSession => {
      const kept = snapshot.kept.forked()
      // Forks without a seed of their own differ only in their ids.
      const own = seed === undefined ? { id } : { id, seed: seedFor(seed, 'fork', place) }
      return { record: { ...twin, ...own, state: kept.state }, kept, pools: snapshot.pools }
    }
    return admit(ids, owner, async () => [...ids.entries()].map(create))
  }

  async function findForks(ids: readonly string[]): Promise<Map<string, CachedSession>> {
    const { sessions } = options
    const found = await Promise.all(ids.map((id) => sessions.find(id)))
    return new Map(found.filter((cached) => cached !== null).map((cached) => [cached.session.record.id, cached]))
  }

  async function assertForkable({ rules }: CachedSession, { record }: Snapshot, count: number): Promise<void> {
    const { end, seats, state, params } = record
    if (end)
      throw new WireError(
        'episode-ended',
        `The episode is over (${end.kind}: ${end.reason}), so nothing follows. Name an earlier step with "at".`,
        { details: { end } },
      )
    const seen = await Promise.all(Object.keys(seats).map((seat) => rules.observe(state, params, seat)))
    if (JSON.stringify(seen).length * count > ANSWER_BYTES)
      throw new WireError('too-large', `The answer for ${count} forks would be too large. Ask for fewer at a time.`)
  }

  async function openOne(id: string, owner: Principal, create: () => Promise<HeldSession>): Promise<CachedSession> {
    const [cached] = await once([id], async () => {
      const existing = await options.sessions.find(id)
      return existing ? [existing] : admit([id], owner, async () => [await create()])
    })
    return cached as CachedSession
  }

  /** Runs concurrent repeats of a request once. Aborting the first caller's `signal` stops the run. */
  function once(
    ids: readonly string[],
    run: () => Promise<readonly CachedSession[]>,
    signal?: AbortSignal,
  ): Promise<readonly CachedSession[]> {
    const key = ids[0] as string
    const inProgress = beginning.get(key)
    if (inProgress)
      return inProgress.begun.catch((error) => {
        // The first caller has disconnected; this one still waits, so it runs the request itself.
        if (inProgress.signal?.aborted) return once(ids, run, signal)
        throw error
      })
    const begun = run().finally(() => beginning.delete(key))
    beginning.set(key, { begun, signal })
    return begun
  }

  /** Stores new sessions if there is room for them: all of them or none. */
  function admit(
    ids: readonly string[],
    owner: Principal,
    create: () => Promise<readonly HeldSession[]>,
  ): Promise<CachedSession[]> {
    const { sessions, capacity } = options
    return sessions.guardStore(capacity.admit(ids, owner, async () => keep(await create())))
  }

  async function keep(newSessions: readonly HeldSession[]): Promise<CachedSession[]> {
    const { sessions, clock, metrics, turns } = options
    const giveTurn = takingTurns(clock)
    const kept: { readonly cached: CachedSession; readonly created: boolean }[] = []
    try {
      for (let i = 0; i < newSessions.length; i += BATCH) {
        const batch = newSessions.slice(i, i + BATCH)
        const settled = await Promise.allSettled(batch.map((held) => sessions.create(held)))
        for (const result of settled) if (result.status === 'fulfilled') kept.push(result.value)
        for (const result of settled) if (result.status === 'rejected') throw result.reason
        await giveTurn()
      }
    } catch (error) {
      // Sessions that the same request created in another process may be in use already.
      const own = kept.filter(({ created }) => created)
      await Promise.allSettled(own.map(({ cached }) => sessions.remove(cached.session.record.id)))
      throw error
    }
    for (const { cached, created } of kept) {
      if (!created) continue
      metrics?.opened(cached.environment.name)
      turns.notify(cached)
    }
    return kept.map(({ cached }) => cached)
  }

  function rulesOf(environment: EnvironmentDefinition, id: string): SessionRules {
    return new SessionRules(options.faults, environment, id)
  }
}

function assertSameOrigin({ session }: CachedSession, request: string): void {
  if (session.record.base?.request === request) return
  throw invalidParams(
    'This request key has begun other sessions: from another snapshot, or with other parameters. Make a new key.',
  )
}
