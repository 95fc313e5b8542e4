import { type EnvironmentInfo, type MethodResult, WireError } from '@episodic/protocol'
import type { Principal } from '../access/caller.ts'
import type { SessionTokens } from '../access/session-tokens.ts'
import type { Connections, PresentedState, StepCall, StepOutcome } from '../host.ts'
import { type AtOnce, type CachedSession, notFound } from '../sessions/session-cache.ts'
import { ResolvedSession, type SessionParts, type VerifiedToken } from './session-ref.ts'

/** How many ended ids are remembered. They would be good for an idle time at most. */
const REMEMBERED = 10_000

/**
 * The ids of MCP sessions, and of the sessions that calls name in their arguments.
 *
 * An id proves by itself that it was issued here, to whom and when, so nothing is stored for a client that has not
 * played, and any process on the same store can serve it. Its session opens at the first call, under a request key
 * derived from the id. An id that has never played is good for as long as an idle session lives; after that, and once
 * its session has ended or expired, it is as unknown as any other.
 */
export class TransportSessions implements Connections {
  readonly #parts: Pick<SessionParts, 'sessions' | 'clock' | 'idleSeconds'>
  /** Ids that have a session or were ended without one, oldest first: no session is opened for them again. */
  readonly #spent = new Set<string>()

  constructor(parts: Pick<SessionParts, 'sessions' | 'clock' | 'idleSeconds'>) {
    this.#parts = parts
  }

  async issue(principal: Principal, earlier?: string): Promise<string> {
    const { sessions, clock } = this.#parts
    return (await sessions.loadTokens()).transport(principal, Math.floor(clock.now() / 1_000), earlier)
  }

  check(principal: Principal, id: string): AtOnce<void> {
    const check = (tokens: SessionTokens) => {
      if (tokens.transportIssuedAt(principal, id) === null || this.#spent.has(id)) throw notFound()
    }
    const { sessions } = this.#parts
    return sessions.tokens ? check(sessions.tokens) : sessions.loadTokens().then(check)
  }

  async end(principal: Principal, id: string): Promise<void> {
    await this.check(principal, id)
    this.spend(id)
  }

  /**
   * Opens no session for an id from now on: it was ended, or it has one, which must not be replaced in silence if the
   * store loses it. As far as this process goes, and for the ids that it remembers.
   */
  spend(id: string): void {
    this.#spent.add(id)
    if (this.#spent.size <= REMEMBERED) return
    const [oldest] = this.#spent
    this.#spent.delete(oldest as string)
  }

  /** Returns the session of an id; `null` before its first call. `session-not-found` for another environment too. */
  find({ id, transportId, issuedAt, environment }: VerifiedTransport): AtOnce<CachedSession | null> {
    const { sessions, clock, idleSeconds } = this.#parts
    const found = sessions.find(id)
    const check = (cached: CachedSession | null) => {
      if (cached ? isClosed(cached) : this.#spent.has(transportId)) throw notFound()
      if (!cached && clock.now() / 1_000 - issuedAt > idleSeconds) throw notFound()
      if (cached && cached.environment.name !== environment) throw notFound()
      return cached
    }
    return found instanceof Promise ? found.then(check) : check(found)
  }
}

interface VerifiedTransport extends VerifiedToken {
  readonly transportId: string
  readonly environment: string
  /** Seconds since 1970. */
  readonly issuedAt: number
  readonly tokens: SessionTokens
}

export function verifyTransport(
  tokens: SessionTokens,
  principal: Principal,
  transportId: string,
  environment: string,
): VerifiedTransport {
  const issuedAt = tokens.transportIssuedAt(principal, transportId)
  if (issuedAt === null) throw notFound()
  const id = tokens.idFor(principal, transportKey(transportId))
  return { principal, id, place: 0, transportId, environment, issuedAt, tokens }
}

/** The request key under which an id opens its session, kept apart from the keys that openers make. */
function transportKey(transportId: string): string {
  return `transport ${transportId}`
}

export class TransportSession extends ResolvedSession {
  readonly #transports: TransportSessions
  readonly #verified: VerifiedTransport

  constructor(parts: SessionParts, transports: TransportSessions, verified: VerifiedTransport) {
    super(parts, verified)
    this.#transports = transports
    this.#verified = verified
  }

  override environment(): AtOnce<EnvironmentInfo> {
    const { environment } = this.#verified
    const found = this.#transports.find(this.#verified)
    const info = this.parts.environments.find(({ name }) => name === environment) as EnvironmentInfo
    return found instanceof Promise ? found.then(() => info) : info
  }

  override async step(call: StepCall): Promise<StepOutcome> {
    try {
      return await super.step(call)
    } catch (error) {
      // If another process has closed the session since, the id is as unknown here as it is there.
      if (WireError.is(error, 'episode-ended')) await this.#transports.find(this.#verified)
      throw error
    }
  }

  override async observe(): Promise<PresentedState | null> {
    const { factory } = this.parts
    const cached = await this.#transports.find(this.#verified)
    return cached
      ? factory.present(cached, this.seatIn(cached))
      : factory.foresee(this.#verified.principal, this.#opening())
  }

  /** Ends the episode, and has it judged. The record stays until it expires: its id opens no other session. */
  override async close(): Promise<MethodResult<'close'>> {
    const { writer } = this.parts
    const cached = await this.#transports.find(this.#verified)
    if (cached) {
      // A world that fails has reported it, and its player has left all the same.
      if (writer.isLeft(cached)) await writer.judgeLeft(cached).catch(() => {})
      return { end: (await writer.close(cached, () => true)).end }
    }
    this.#transports.spend(this.#verified.transportId)
    return { end: { kind: 'truncated', reason: 'closed' } }
  }

  protected override find(): AtOnce<CachedSession> {
    const found = this.#transports.find(this.#verified)
    if (found instanceof Promise) return found.then((cached) => cached ?? Promise.reject(notFound()))
    if (!found) throw notFound()
    return found
  }

  protected override findOpened(): AtOnce<CachedSession | null> {
    return this.#transports.find(this.#verified)
  }

  protected override findOrOpen(): AtOnce<CachedSession> {
    const found = this.#transports.find(this.#verified)
    if (found instanceof Promise) return found.then((cached) => cached ?? this.#open())
    return found ?? this.#open()
  }

  async #open(): Promise<CachedSession> {
    const cached = await this.parts.factory.open(this.#verified.principal, this.#opening())
    this.#transports.spend(this.#verified.transportId)
    return cached
  }

  #opening() {
    const { environment, transportId, tokens } = this.#verified
    return { environment, seed: tokens.seedOf(transportId), requestKey: transportKey(transportId) }
  }
}

function isClosed({ session }: CachedSession): boolean {
  const { end } = session.record
  return end?.kind === 'truncated' && end.reason === 'closed'
}
