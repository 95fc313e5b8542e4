import { WireError } from '@episodic/protocol'
import { Session, type SessionRecord, StateError } from '@episodic/state'
import { type HeldSession, holdSession, sessionNotFound, storeSession } from '@episodic/state/internal'
import { Secrets } from '../../environment/answer/secrets.ts'
import type { EnvironmentDefinition } from '../../environment/definition/environment.ts'
import { findMisfit } from '../../environment/definition/stored-state.ts'
import { bySeat } from '../../environment/rules/rules-turn.ts'
import { createSessionTokens, type SessionTokens } from '../access/session-tokens.ts'
import type { HostBounds } from '../host.ts'
import { type Faults, refusalOf, SessionRules } from '../operate/faults.ts'
import { createKeptStarts, type KeptStarts, type KeptStartsOptions } from './kept-starts.ts'
import type { Watchers } from './watchers.ts'

export interface CachedSession {
  readonly session: Session
  readonly environment: EnvironmentDefinition
  readonly rules: SessionRules
  readonly owner: string | null
  readonly seats: readonly string[]
  readonly control: string
  /** The agent capability of each seat, in the order of the environment's seats. */
  readonly capabilities: readonly string[]
  /** The seat handle of each seat, in the same order; empty if there is one seat. */
  readonly seatHandles: readonly string[]
  readonly secrets: { readonly [seat: string]: Secrets }
  /** `null` before the first one; see `watchersOf`. */
  watchers: Watchers | null
  /** How many of the texts for each seat since its last step were shown to its player; `null` before any was. */
  shown: Map<string, number> | null
  /** Monotonic milliseconds of the last finished call. */
  touched: number
  /** Why no further step of it is played in this process; `null` if nothing failed. */
  failure: WireError | null
  /** Whether this process still keeps it: one that was fenced has a successor in the cache. */
  held: boolean
}

/** At once for a cached session, as in nearly every call; otherwise after a read of the store. */
export type AtOnce<T> = T | Promise<T>

export interface SessionCacheOptions
  extends KeptStartsOptions,
    Pick<HostBounds, 'queue' | 'events' | 'logBytes' | 'textBytes'> {
  readonly environments: ReadonlyMap<string, EnvironmentDefinition>
  readonly faults: Faults
}

/**
 * Finds sessions by id or by token, in memory or in the store, and caches those that are used.
 *
 * One session has one place here, so that its calls keep their order.
 */
export class SessionCache {
  readonly #options: SessionCacheOptions
  readonly #cached = new Map<string, CachedSession>()
  readonly #dropped = new WeakSet<CachedSession>()
  readonly #dropping = new Set<Promise<void>>()
  readonly starts: KeptStarts
  /** The tokens of this store's sessions; `null` until {@link loadTokens} has read its key. */
  tokens: SessionTokens | null = null

  constructor(options: SessionCacheOptions) {
    this.#options = options
    this.starts = createKeptStarts(options)
  }

  async loadTokens(): Promise<SessionTokens> {
    if (this.tokens) return this.tokens
    const secret = await this.guardStore(this.#options.store.secret())
    this.tokens ??= createSessionTokens(secret)
    return this.tokens
  }

  cached(id: string): CachedSession | undefined {
    return this.#cached.get(id)
  }

  find(id: string): AtOnce<CachedSession | null> {
    return this.#cached.get(id) ?? this.#read(id)
  }

  get(id: string): AtOnce<CachedSession> {
    return this.#cached.get(id) ?? this.#read(id).then(present)
  }

  async #read(id: string): Promise<CachedSession | null> {
    const [tokens, stored] = await Promise.all([this.loadTokens(), this.guardStore(this.#options.store.read(id))])
    // Two calls may have looked it up at once: both must get the one whose queue keeps them in order.
    const held = this.#cached.get(id)
    if (held || !stored) return held ?? null
    const read = await this.guardStore(holdSession(this.#options.store, stored))
    this.#assertFits(read.record)
    return this.#cached.get(id) ?? this.#hold(read, tokens)
  }

  async create(held: HeldSession): Promise<{ readonly cached: CachedSession; readonly created: boolean }> {
    const tokens = await this.loadTokens()
    const { store } = this.#options
    const created = await this.guardStore(storeSession(store, held, (...start) => this.starts.began(...start)))
    const cached = created ? this.#hold(created, tokens) : await this.get(held.record.id)
    return { cached, created: created !== null }
  }

  /** Runs a call on a session, marks the session as used once it is finished, and translates what it throws. */
  async use<T>(cached: CachedSession, run: (session: Session) => Promise<T>): Promise<T> {
    try {
      const result = await run(cached.session)
      const marking = this.used(cached)
      if (marking) await marking
      return result
    } catch (error) {
      throw this.failed(cached, error)
    }
  }

  /** Marks a session as used by a call that is finished. Returns a promise only if that has to be written down. */
  used(cached: CachedSession): Promise<void> | null {
    const { clock, idleSeconds } = this.#options
    const { session } = cached
    const { touchedAt } = session.record
    cached.touched = clock.monotonic()
    // Other processes see only the store, so a session that no commit has touched for a while is marked there. The call
    // itself is answered already. A session that could not be marked may expire early, and no earlier than if it had
    // not been read.
    if (clock.now() - touchedAt < idleSeconds * 500) return null
    return session.advance(() => ({})).then(ignore, ignore)
  }

  failed(cached: CachedSession, error: unknown): unknown {
    const { session, environment } = cached
    cached.touched = this.#options.clock.monotonic()
    // A holder that was fenced stays so: the next call is served by a new one.
    if (session.fenced || StateError.is(error, 'session-not-found')) this.letGo(cached)
    return this.#options.faults.translate(environment.name, session.record.id, error)
  }

  /** Makes a cached session reject its further steps. It can still be read and closed. */
  fail(id: string, refusal: WireError): void {
    const cached = this.#cached.get(id)
    if (cached) cached.failure = refusal
  }

  async remove(id: string): Promise<boolean> {
    const cached = this.#cached.get(id)
    if (cached) this.letGo(cached)
    const removed = await this.guardStore(this.#options.store.remove(id))
    cached?.watchers?.wake()
    return removed
  }

  holds(id: string): boolean {
    return this.#cached.has(id)
  }

  idle(): CachedSession[] {
    const { clock, idleSeconds } = this.#options
    const since = clock.monotonic() - idleSeconds * 1_000
    return [...this.#cached.values()].filter(({ session, touched }) => !session.busy && touched < since)
  }

  letGo(cached: CachedSession): void {
    const { id } = cached.session.record
    cached.held = false
    if (this.#cached.get(id) === cached) this.#cached.delete(id)
    this.drop(cached)
  }

  /** Empties the cache, and waits until worlds have dropped what they keep outside. The sessions stay in the store. */
  async release(): Promise<void> {
    for (const cached of this.#cached.values()) {
      cached.watchers?.wake()
      this.letGo(cached)
    }
    await Promise.all(this.#dropping)
  }

  /** Has the world drop what it keeps outside for a session, once. What that throws is reported as a fault. */
  drop(cached: CachedSession): void {
    const { environment, rules, session } = cached
    const { release } = environment
    if (!release || this.#dropped.has(cached)) return
    this.#dropped.add(cached)
    const { id } = session.record
    const run = async () => {
      await release(id)
    }
    const dropping: Promise<void> = rules
      .guard(run)
      .catch(ignore)
      .finally(() => this.#dropping.delete(dropping))
    this.#dropping.add(dropping)
  }

  async guardStore<T>(work: Promise<T>): Promise<T> {
    try {
      return await work
    } catch (error) {
      throw refusalOf(error)
    }
  }

  #assertFits({ id, environment: { name, version }, state }: SessionRecord): void {
    const environment = this.environmentOf(name, version)
    const misfit = this.#options.faults.guard(name, id, () => findMisfit(environment, state))
    if (misfit) throw this.#options.faults.misfit(environment, id, misfit)
  }

  environmentOf(name: string, version: string): EnvironmentDefinition {
    const environment = this.#options.environments.get(name)
    if (environment?.version === version) return environment
    throw new WireError(
      'unknown-environment',
      `This session plays ${name} ${version}, which is not served here. Serve that version, or open a new session.`,
    )
  }

  #hold(held: HeldSession, tokens: SessionTokens): CachedSession {
    const { clock, faults } = this.#options
    const { record } = held
    const environment = this.environmentOf(record.environment.name, record.environment.version)
    const session = new Session(held, this.#options, environment.history)
    const present = environment.seats.filter((seat) => Object.hasOwn(record.seats, seat))
    const cached: CachedSession = {
      session,
      environment,
      rules: new SessionRules(faults, environment, record.id),
      owner: record.owner,
      seats: present.length === environment.seats.length ? environment.seats : present,
      ...this.#guarded(session, environment, tokens),
      watchers: null,
      shown: null,
      touched: clock.monotonic(),
      failure: null,
      held: true,
    }
    this.#cached.set(record.id, cached)
    return cached
  }

  async secretsOf(record: SessionRecord, environment: EnvironmentDefinition, seat: string): Promise<Secrets> {
    return this.#guarded({ record }, environment, await this.loadTokens()).secrets[seat] as Secrets
  }

  #guarded(
    session: Pick<Session, 'record'>,
    environment: EnvironmentDefinition,
    tokens: SessionTokens,
  ): Pick<CachedSession, 'control' | 'capabilities' | 'seatHandles' | 'secrets'> {
    const { faults } = this.#options
    const { id, owner, seed } = session.record
    const control = tokens.control(id, owner)
    const capabilities = environment.seats.map((_, place) => tokens.capability(id, place))
    const seatHandles = environment.multiplayer ? environment.seats.map((_, place) => tokens.seatHandle(id, place)) : []
    const secretsOf = (seat: string) =>
      new Secrets({
        seed,
        id,
        controls: [control, ...seatHandles],
        capabilities,
        declared: environment.secrets
          ? () =>
              faults.contain(
                environment.name,
                id,
                () => environment.secrets?.(session.record.state, session.record.params, seat) ?? [],
              )
          : null,
        withhold: (found) => faults.withhold(environment.name, id, found),
      })
    const secrets = bySeat(environment.seats, secretsOf)
    return { control, capabilities, seatHandles, secrets }
  }
}

function ignore(): void {}

function present(cached: CachedSession | null): CachedSession {
  if (!cached) throw notFound()
  return cached
}

/** Returns the one error for a session that this caller cannot reach, whatever the reason. */
export function notFound(): WireError {
  return refusalOf(sessionNotFound()) as WireError
}
