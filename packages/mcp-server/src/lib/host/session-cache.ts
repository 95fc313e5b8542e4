import { DEFAULT_SEAT, WireError } from '@episodic/protocol'
import {
  type Clock,
  decodeSession,
  Session,
  type SessionRecord,
  type SessionStore,
  StateError,
  type StoredSession,
  sessionNotFound,
} from '@episodic/state'
import type { EnvironmentDefinition } from '../environment/environment.ts'
import type { RulesRunner } from '../environment/rules-runner.ts'
import { Secrets } from '../environment/secrets.ts'
import { findMisfit } from '../environment/stored-state.ts'
import { type Faults, refusalOf } from './faults.ts'
import type { Principal } from './host.ts'
import { createHandles, equalSecrets, type Handles, readClaim } from './session-tokens.ts'
import { Watchers } from './watchers.ts'

/** A session that this process has in hand. */
export interface Live {
  readonly session: Session
  readonly environment: EnvironmentDefinition
  /** The control handle. */
  readonly control: string
  /** The agent capability of each seat, in the order of {@link SEATS}. */
  readonly capabilities: readonly string[]
  readonly secrets: Secrets
  readonly watchers: Watchers
  /** Monotonic milliseconds of the last finished call. */
  touched: number
  /** Why no further step of it is played in this process; `null` where nothing failed. */
  failure: WireError | null
}

/** A session, and the seat in it that a capability plays. */
export interface Seated {
  readonly live: Live
  readonly seat: string
}

/** At once for a session in hand, as in nearly every call, and after a look at the store for another. */
type AtOnce<T> = T | Promise<T>

/** The seats of a session. */
export const SEATS: readonly string[] = [DEFAULT_SEAT]

export interface LiveSessionsOptions {
  readonly environments: ReadonlyMap<string, EnvironmentDefinition>
  readonly rules: Pick<RulesRunner, 'secrets'>
  readonly store: SessionStore
  readonly clock: Clock
  readonly faults: Faults
  readonly idleSeconds: number
  readonly queue: number
  readonly events: number
  readonly logBytes: number
  readonly textBytes: number
}

/**
 * Finds sessions by id or by proof, in hand or in the store, and keeps in hand those that are used.
 *
 * One session has one place here, so that its calls keep their order.
 */
export class LiveSessions {
  readonly #options: LiveSessionsOptions
  readonly #live = new Map<string, Live>()
  #handles: Promise<Handles> | null = null

  constructor(options: LiveSessionsOptions) {
    this.#options = options
  }

  /** The secrets of this store's sessions. */
  handles(): Promise<Handles> {
    this.#handles ??= this.guardStore(this.#options.store.secret()).then(createHandles)
    return this.#handles
  }

  /** The session of an id; `null` where there is none. */
  find(id: string): AtOnce<Live | null> {
    return this.#live.get(id) ?? this.#read(id)
  }

  async #read(id: string): Promise<Live | null> {
    const [handles, stored] = await Promise.all([this.handles(), this.guardStore(this.#options.store.read(id))])
    // Two calls may have looked it up at once: both must get the one whose queue keeps them in order.
    const held = this.#live.get(id)
    if (held || !stored) return held ?? null
    const record = decodeSession(stored)
    this.#assertFits(record)
    return this.#hold(stored, record, handles)
  }

  /** Whether a transport id or a capability was given out here. Says nothing of whether its session still lives. */
  vouch(principal: Principal, secret: string): AtOnce<boolean> {
    const claim = readClaim(secret)
    if (claim?.kind !== 'capability')
      return this.handles().then((handles) => handles.transportIssuedAt(principal, secret) !== null)
    const { id, seat } = claim
    const known = this.#live.get(id)?.capabilities[seat]
    if (known !== undefined) return equalSecrets(secret, known)
    return this.handles().then((handles) => equalSecrets(secret, handles.capability(id, seat)))
  }

  /**
   * Keeps a new session, or finds the one that a twin of the same request has made. `stored` is what the store keeps of
   * `record`.
   */
  async create(
    record: SessionRecord,
    stored: StoredSession,
  ): Promise<{ readonly live: Live; readonly created: boolean }> {
    const handles = await this.handles()
    const created = await this.guardStore(this.#options.store.create(stored))
    const live = created ? this.#hold(stored, record, handles) : await this.find(record.id)
    if (!live) throw notFound()
    return { live, created }
  }

  /**
   * The session of a control handle. A foreign, an expired and an unknown handle are told apart by nobody: what does
   * not prove itself is refused before the session is looked for.
   */
  controlled(principal: Principal, control: string): AtOnce<Live> {
    const claim = readClaim(control)
    if (claim?.kind !== 'control') throw notFound()
    const known = this.#live.get(claim.id)
    if (known?.session.record.owner === principal && equalSecrets(known.control, control)) return known
    return this.#prove(principal, claim.id, control)
  }

  async #prove(principal: Principal, id: string, control: string): Promise<Live> {
    const proof = (await this.handles()).control(id, principal)
    const live = equalSecrets(proof, control) ? await this.find(id) : null
    if (live?.session.record.owner !== principal) throw notFound()
    return live
  }

  /** The session and the seat of an agent capability. */
  seated(capability: string): AtOnce<Seated> {
    const claim = readClaim(capability)
    const seat = claim?.kind === 'capability' ? SEATS[claim.seat] : undefined
    if (claim?.kind !== 'capability' || seat === undefined) throw notFound()
    const known = this.#live.get(claim.id)
    if (known && equalSecrets(known.capabilities[claim.seat] as string, capability)) return { live: known, seat }
    return this.#seat(claim, seat, capability)
  }

  async #seat(
    claim: { readonly id: string; readonly seat: number },
    seat: string,
    capability: string,
  ): Promise<Seated> {
    const proof = (await this.handles()).capability(claim.id, claim.seat)
    const live = equalSecrets(proof, capability) ? await this.find(claim.id) : null
    if (!live) throw notFound()
    return { live, seat }
  }

  /** What the session of a capability keeps from its players; `null` where it is not in hand. */
  secretsAt(capability: string): Secrets | null {
    const claim = readClaim(capability)
    const live = claim?.kind === 'capability' ? this.#live.get(claim.id) : undefined
    return live?.capabilities.includes(capability) ? live.secrets : null
  }

  /** What a session keeps from its players; `null` where it is not in hand. */
  secretsIn(id: string): Secrets | null {
    return this.#live.get(id)?.secrets ?? null
  }

  /** Runs a call on a session, marks the session as used once it is finished, and translates what it throws. */
  async use<T>(live: Live, run: (session: Session) => Promise<T>): Promise<T> {
    const { session, environment } = live
    try {
      const result = await run(session)
      if (this.#looksIdle(session)) await this.#touch(session)
      return result
    } catch (error) {
      // A holder that was fenced stays so: whoever calls next is served by a new one.
      if (session.fenced || StateError.is(error, 'session-not-found')) this.#live.delete(session.record.id)
      throw this.#options.faults.translate(environment.name, session.record.id, error)
    } finally {
      live.touched = this.#options.clock.monotonic()
    }
  }

  /** Has a session in hand refuse its further steps. It can still be read, and closed. */
  fail(id: string, refusal: WireError): void {
    const live = this.#live.get(id)
    if (live) live.failure = refusal
  }

  /** Removes a session, and says whether it was there. */
  async remove(id: string): Promise<boolean> {
    const live = this.#live.get(id)
    this.#live.delete(id)
    const removed = await this.guardStore(this.#options.store.remove(id))
    live?.watchers.wake()
    return removed
  }

  /** Whether this process has a session in hand. */
  holds(id: string): boolean {
    return this.#live.has(id)
  }

  /** Lets go of what has not been used for the idle time, and says what was known of it. It stays in the store. */
  letGo(): { readonly id: string; readonly touchedAt: number; readonly touched: number }[] {
    const { clock, idleSeconds } = this.#options
    const idle = []
    for (const [id, { session, touched }] of this.#live) {
      if (session.busy || clock.monotonic() - touched <= idleSeconds * 1_000) continue
      this.#live.delete(id)
      idle.push({ id, touchedAt: session.record.touchedAt, touched })
    }
    return idle
  }

  /** Lets go of everything in hand. The sessions stay in the store. */
  release(): void {
    for (const { watchers } of this.#live.values()) watchers.wake()
    this.#live.clear()
  }

  /** Waits for the store, and says its refusals as the wire does. */
  async guardStore<T>(work: Promise<T>): Promise<T> {
    try {
      return await work
    } catch (error) {
      throw refusalOf(error)
    }
  }

  /** Throws for a session that was kept under another version of its environment, or under other schemas of its state. */
  #assertFits({ id, environment: { name, version }, state }: SessionRecord): void {
    const environment = this.#environmentOf(name, version)
    const misfit = this.#options.faults.guard(name, id, () => findMisfit(environment, state))
    if (misfit) throw this.#options.faults.misfit(environment, id, misfit)
  }

  #environmentOf(name: string, version: string): EnvironmentDefinition {
    const environment = this.#options.environments.get(name)
    if (environment?.version === version) return environment
    throw new WireError(
      'unknown-environment',
      `This session plays ${name} ${version}, which is not served here. Serve that version, or open a new session.`,
    )
  }

  #hold(stored: StoredSession, record: SessionRecord, handles: Handles): Live {
    const { store, clock, queue, events, logBytes, textBytes } = this.#options
    const environment = this.#environmentOf(record.environment.name, record.environment.version)
    const session = new Session(
      stored,
      { store, clock, history: environment.history, queue, events, logBytes, textBytes },
      record,
    )
    const live: Live = {
      session,
      environment,
      ...this.#guarded(session, environment, handles),
      watchers: new Watchers(),
      touched: clock.monotonic(),
      failure: null,
    }
    this.#live.set(record.id, live)
    return live
  }

  /** What the session of a record keeps from its players, in hand or not. */
  async secretsOf(record: SessionRecord, environment: EnvironmentDefinition): Promise<Secrets> {
    return this.#guarded({ record }, environment, await this.handles()).secrets
  }

  /** The handles of a session, and what looks for them and for what its world declares in what players get. */
  #guarded(
    session: Pick<Session, 'record'>,
    environment: EnvironmentDefinition,
    handles: Handles,
  ): Pick<Live, 'control' | 'capabilities' | 'secrets'> {
    const { rules, faults } = this.#options
    const { id, owner, seed } = session.record
    const control = handles.control(id, owner)
    const capabilities = SEATS.map((_, seat) => handles.capability(id, seat))
    const secrets = new Secrets({
      seed,
      id,
      control,
      capabilities,
      declared: () =>
        faults.contain(environment.name, id, () =>
          rules.secrets(environment, session.record.state, session.record.params),
        ),
      withhold: (found) => faults.withhold(environment.name, id, found),
    })
    return { control, capabilities, secrets }
  }

  /** Whether no commit has said for a while that a session is used: other processes look at the store. */
  #looksIdle({ record }: Session): boolean {
    const { clock, idleSeconds } = this.#options
    return clock.now() - record.touchedAt >= idleSeconds * 500
  }

  /** Writes down that a session is used. */
  async #touch(session: Session): Promise<void> {
    // The call itself is answered already. A session that could not be marked may expire early, and no earlier than
    // if it had not been read.
    await session.advance(() => ({})).catch(() => {})
  }
}

/** The one refusal for a session that is not there for this caller, whatever the reason. */
export function notFound(): WireError {
  return refusalOf(sessionNotFound()) as WireError
}
