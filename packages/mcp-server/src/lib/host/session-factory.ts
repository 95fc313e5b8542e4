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
import { type Clock, encodeSession, type SessionRecord, type SessionStore, type StoredSession } from '@episodic/state'
import type { EnvironmentDefinition } from '../environment/environment.ts'
import type { RulesRunner } from '../environment/rules-runner.ts'
import { takingTurns } from '../environment/yield-to-event-loop.ts'
import type { Capacity } from './capacity.ts'
import type { Faults } from './faults.ts'
import type { ForkRequest, OpenRequest, Presented, Principal, SnapshotQuery } from './host.ts'
import type { Metrics } from './metrics.ts'
import { assertSameOpening, chooseEnvironment, describeOpen, startRecord } from './open-session.ts'
import { replayTo } from './replay-log.ts'
import { momentOfSnapshot } from './restore-snapshot.ts'
import type { Live, LiveSessions } from './session-cache.ts'
import { baseAt, type Moment, recordAt, snapshotOf, stepsOf } from './snapshot.ts'

export interface BeginningsOptions {
  readonly environments: ReadonlyMap<string, EnvironmentDefinition>
  readonly rules: RulesRunner
  readonly sessions: LiveSessions
  readonly store: SessionStore
  readonly capacity: Capacity
  readonly clock: Clock
  /** How many of its last events a session knows again. */
  readonly events: number
  readonly faults: Faults
  readonly metrics: Metrics | undefined
}

/** A session to be kept, and how a store keeps it. */
interface Beginning {
  readonly record: SessionRecord
  readonly stored: StoredSession
}

/** A request in progress, and what stops it. */
interface Underway {
  readonly begun: Promise<readonly Live[]>
  readonly signal: AbortSignal | undefined
}

/** Sessions that are kept in one turn of the event loop: a store may make one write of them. */
const BATCH = 64

/** UTF-8 bytes, about, that the answer to one fork may have. */
const ANSWER_BYTES = 67_108_864

/**
 * Begins sessions: at the start of a world, from a snapshot, or where another session stands or stood.
 *
 * A request begins its sessions once, however often it is made: its key names them, so who asks again finds them.
 */
export class Beginnings {
  readonly #options: BeginningsOptions
  /** Requests in progress, by the id of the first session that they begin. */
  readonly #underway = new Map<string, Underway>()

  constructor(options: BeginningsOptions) {
    this.#options = options
  }

  async open(owner: Principal, request: OpenRequest): Promise<Live> {
    const { environments, sessions, rules } = this.#options
    const environment = chooseEnvironment(environments, request)
    const id = (await sessions.handles()).idFor(owner, request.requestKey)
    const live = await this.#beginOne(id, owner, async () => {
      const identity = { id, owner, now: this.#options.clock.now() }
      const record = await this.#guard(environment, id, () => startRecord(rules, environment, identity, request))
      return { record, stored: encodeSession(record) }
    })
    if (live.environment !== environment)
      throw new WireError(
        'invalid-params',
        'This request key has opened a session of another environment. Make a new key.',
      )
    assertSameOpening(live, request)
    return live
  }

  async restore(owner: Principal, { snapshot, requestKey }: MethodParams<'restore'>): Promise<Live> {
    const { environments, sessions } = this.#options
    const environment = chooseEnvironment(environments, {
      environment: snapshot.environment.name,
      version: snapshot.environment.version,
    })
    const id = (await sessions.handles()).idFor(owner, requestKey)
    const moment = await this.#guard(environment, id, () => momentOfSnapshot(environment, snapshot))
    const request = contentId(canonicalJson({ restore: snapshot as unknown as JsonObject }))
    const live = await this.#beginOne(id, owner, async () => {
      const { seed } = moment.record
      // Before anything is kept: a state that the rules cannot show is one that they cannot play.
      await this.#look(environment, id, moment.record)
      const base = baseAt(moment, { request, freshChance: false })
      const record = recordAt(moment, base, { id, owner, seed, createdAt: this.#options.clock.now() })
      return { record, stored: encodeSession(record, moment.stateText) }
    })
    assertSameBeginning(live, request)
    return live
  }

  /** Begins `count` sessions where `parent` stands, or stood after `at` steps: all of them or none. */
  async fork(parent: Live, asked: ForkRequest): Promise<readonly OpenResult[]> {
    const { requestKey, at = null, count = 1, seed = null, signal } = asked
    const { sessions, clock } = this.#options
    const { id, owner } = parent.session.record
    const ids = (await sessions.handles()).idsFor(owner, requestKey, count)
    const request = contentId(canonicalJson({ fork: id, at, count, seed }))
    const forks = await this.#once(ids, () => this.#findOrFork(parent, { ...asked, ids, request }), signal)
    const giveTurn = takingTurns(clock)
    const opened: OpenResult[] = []
    for (const fork of forks) {
      assertSameBeginning(fork, request)
      opened.push(await this.describe(fork))
      await giveTurn()
    }
    return opened
  }

  async snapshot(live: Live, query: SnapshotQuery): Promise<SessionSnapshot> {
    return snapshotOf(await this.#momentOf(live, query))
  }

  /** How a session stands, in the words of its world; `null` where these fail, which is reported. */
  async present({ environment, session, secrets }: Live): Promise<Presented | null> {
    const { id } = session.record
    try {
      const { observation } = await this.#look(environment, id, session.record)
      return { observation: observation.text, secrets }
    } catch (error) {
      if (WireError.is(error, 'environment-failed')) return null
      throw error
    }
  }

  /**
   * How the session that a request would open will stand at its beginning. Nothing is kept of it. `null` where it cannot be
   * opened so: opening it then reports the reason.
   */
  async foresee(owner: Principal, request: OpenRequest & { readonly seed: string }): Promise<Presented | null> {
    const { environments, sessions, rules, clock } = this.#options
    const environment = chooseEnvironment(environments, request)
    const id = (await sessions.handles()).idFor(owner, request.requestKey)
    try {
      const record = await this.#guard(environment, id, () =>
        startRecord(rules, environment, { id, owner, now: clock.now() }, request),
      )
      const { observation } = await this.#look(environment, id, record)
      return { observation: observation.text, secrets: await sessions.secretsOf(record, environment) }
    } catch (error) {
      if (WireError.is(error)) return null
      throw error
    }
  }

  /** What whoever began a session is told. */
  async describe(live: Live): Promise<OpenResult> {
    return this.#guard(live.environment, live.session.record.id, () => describeOpen(this.#options.rules, live))
  }

  /** How a session stands, or stood after `at` answered steps. */
  async #momentOf(live: Live, { at, signal }: SnapshotQuery): Promise<Moment> {
    const { sessions, rules, store, clock, events } = this.#options
    const { session, environment } = live
    const present = await sessions.use(live, () => session.moment())
    const { record } = present
    const answered = stepsOf(record.seats)
    // What has happened outside since the last step is of the present, and not of that step.
    const unchanged = !record.end && !record.outside?.pending.length
    if (at === undefined || (at === answered && unchanged)) return present
    const begun = record.base ? stepsOf(record.base.seats) : 0
    if (at < begun || at > answered)
      throw new WireError(
        'invalid-params',
        `There is no moment after ${at} steps: this session began after ${begun} and has answered ${answered}.`,
        { details: { begun, answered } },
      )
    const guarded: Pick<RulesRunner, 'start' | 'play' | 'apply'> = {
      start: (...args) => this.#guard(environment, record.id, () => rules.start(...args)),
      play: (...args) => this.#guard(environment, record.id, () => rules.play(...args)),
      apply: (...args) => this.#guard(environment, record.id, () => rules.apply(...args)),
    }
    const setting = { rules: guarded, store, environment, events, giveTurn: takingTurns(clock), signal }
    const moment = await sessions.guardStore(replayTo({ record, at }, setting))
    if (moment) return moment
    // The log is shorter than it was: the session was removed, or else the store has lost some of it.
    await sessions.use(live, () => session.refresh())
    throw new WireError('state-lost', 'The store lost steps of this session, so how it stood earlier cannot be told.')
  }

  async #findOrFork(
    parent: Live,
    { ids, request, at, seed, signal }: ForkRequest & { readonly ids: readonly string[]; readonly request: string },
  ): Promise<readonly Live[]> {
    const { clock } = this.#options
    const { owner, seed: parentSeed } = parent.session.record
    const known = await this.#findForks(ids)
    for (const live of known.values()) assertSameBeginning(live, request)
    if (known.size === ids.length) return [...known.values()]
    if (known.size > 0)
      throw new WireError(
        'invalid-params',
        `Of the ${ids.length} forks of this request key, ${ids.length - known.size} are gone: they were closed or have expired, or the server stopped while it made them. Make a new key.`,
        { details: { asked: ids.length, left: known.size } },
      )
    const moment = await this.#momentOf(parent, { at, signal })
    await this.#assertForkable(parent, moment, ids.length)
    const base = baseAt(moment, { request, freshChance: seed !== undefined })
    const twin = recordAt(moment, base, { id: '', owner, createdAt: clock.now(), seed: parentSeed })
    const storedTwin = encodeSession(twin, moment.stateText)
    const begin = ([place, id]: readonly [number, string]): Beginning => {
      // But for their ids, forks that have no seed of their own are the same to the last byte.
      if (seed === undefined) return { record: { ...twin, id }, stored: { ...storedTwin, id } }
      const record = { ...twin, id, seed: seedFor(seed, 'fork', place) }
      return { record, stored: encodeSession(record, moment.stateText) }
    }
    return this.#admit(ids, owner, async () => [...ids.entries()].map(begin))
  }

  /** Those of the forks that are there, in the order of their ids. */
  async #findForks(ids: readonly string[]): Promise<Map<string, Live>> {
    const { sessions } = this.#options
    const found = await Promise.all(ids.map((id) => sessions.find(id)))
    return new Map(found.filter((live) => live !== null).map((live) => [live.session.record.id, live]))
  }

  async #assertForkable({ environment, session }: Live, { record }: Moment, count: number): Promise<void> {
    const { end, state, params } = record
    if (end)
      throw new WireError(
        'episode-ended',
        `The episode is over (${end.kind}: ${end.reason}), so nothing follows. Name an earlier step with "at".`,
        { details: { end } },
      )
    const { observation } = await this.#look(environment, session.record.id, { state, params })
    if (JSON.stringify(observation).length * count > ANSWER_BYTES)
      throw new WireError('too-large', `The answer for ${count} forks would be too large. Ask for fewer at a time.`)
  }

  async #beginOne(id: string, owner: Principal, begin: () => Promise<Beginning>): Promise<Live> {
    const [live] = await this.#once([id], async () => {
      const existing = await this.#options.sessions.find(id)
      return existing ? [existing] : this.#admit([id], owner, async () => [await begin()])
    })
    return live as Live
  }

  /** Runs a request once for all who make it at the same time. It stops where the one whose `signal` it has is gone. */
  #once(ids: readonly string[], run: () => Promise<readonly Live[]>, signal?: AbortSignal): Promise<readonly Live[]> {
    const key = ids[0] as string
    const underway = this.#underway.get(key)
    if (underway)
      return underway.begun.catch((error) => {
        // Whoever else makes the request is still there.
        if (underway.signal?.aborted) return this.#once(ids, run, signal)
        throw error
      })
    const begun = run().finally(() => this.#underway.delete(key))
    this.#underway.set(key, { begun, signal })
    return begun
  }

  /** Keeps new sessions where there is room for them: all of them or none. */
  #admit(ids: readonly string[], owner: Principal, begin: () => Promise<readonly Beginning[]>): Promise<Live[]> {
    const { sessions, capacity } = this.#options
    return sessions.guardStore(capacity.admit(ids, owner, async () => this.#keep(await begin())))
  }

  async #keep(beginnings: readonly Beginning[]): Promise<Live[]> {
    const { sessions, clock, metrics } = this.#options
    const giveTurn = takingTurns(clock)
    const kept: { readonly live: Live; readonly created: boolean }[] = []
    try {
      for (let i = 0; i < beginnings.length; i += BATCH) {
        const batch = beginnings.slice(i, i + BATCH)
        const settled = await Promise.allSettled(batch.map(({ record, stored }) => sessions.create(record, stored)))
        for (const result of settled) if (result.status === 'fulfilled') kept.push(result.value)
        for (const result of settled) if (result.status === 'rejected') throw result.reason
        await giveTurn()
      }
    } catch (error) {
      // What a twin in another process made is in play already.
      const own = kept.filter(({ created }) => created)
      await Promise.allSettled(own.map(({ live }) => sessions.remove(live.session.record.id)))
      throw error
    }
    for (const { live, created } of kept) if (created) metrics?.opened(live.environment.name)
    return kept.map(({ live }) => live)
  }

  /** Has an environment say how the session `id` stands with that state. */
  #look(environment: EnvironmentDefinition, id: string, { state, params }: Pick<SessionRecord, 'state' | 'params'>) {
    return this.#guard(environment, id, () => this.#options.rules.observe(environment, state, params))
  }

  /** Runs an environment's code, for the session `id`. */
  #guard<T>({ name }: EnvironmentDefinition, id: string, run: () => T): T {
    return this.#options.faults.guard(name, id, run)
  }
}

/** Throws `invalid-params` where a request key has begun sessions by another request than this one. */
function assertSameBeginning({ session }: Live, request: string): void {
  if (session.record.base?.request === request) return
  throw new WireError(
    'invalid-params',
    'This request key has begun other sessions: from another snapshot, or with other parameters. Make a new key.',
  )
}
