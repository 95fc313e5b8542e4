import type { Clock } from '@episodic/state'
import type { Secrets } from '../environment/secrets.ts'
import type { Principal } from './host.ts'
import { type Live, type LiveSessions, notFound } from './session-cache.ts'

/** How many spent ids are remembered. They are good for an idle time at most. */
const REMEMBERED = 10_000

/**
 * What a plain client's `Mcp-Session-Id` stands for: a default capability, and nothing more.
 *
 * The id proves by itself that it was given out here, to whom and when, so nothing is kept for a client that has not played,
 * and any process on the same store can serve it. Its world is opened at the first call, under a request key made
 * of the id. An id that has never played is good for as long as an idle session lives; after that, and once its
 * world has been ended or has expired, it is as unknown as any other.
 */
export class TransportSessions {
  readonly #sessions: LiveSessions
  readonly #clock: Clock
  readonly #idleSeconds: number
  /** Ids that have had a world, or were given back without one, oldest first: no world is opened for them again. */
  readonly #spent = new Set<string>()

  constructor(sessions: LiveSessions, clock: Clock, idleSeconds: number) {
    this.#sessions = sessions
    this.#clock = clock
    this.#idleSeconds = idleSeconds
  }

  /** `earlier`: an id whose world never began, and which the new one takes the place of, seed and all. */
  async issue(principal: Principal, earlier?: string): Promise<string> {
    return (await this.#sessions.handles()).transport(principal, Math.floor(this.#clock.now() / 1_000), earlier)
  }

  /** What to open the world of a transport session with: how it begins is certain before it does. */
  async opening(transportId: string): Promise<{ readonly requestKey: string; readonly seed: string }> {
    const seed = (await this.#sessions.handles()).seedOf(transportId)
    return { requestKey: transportKey(transportId), seed }
  }

  /** Throws `session-not-found` for an id that was not given out here, or was given back. */
  async check(principal: Principal, transportId: string): Promise<void> {
    const handles = await this.#sessions.handles()
    if (handles.transportIssuedAt(principal, transportId) === null || this.#spent.has(transportId)) throw notFound()
  }

  /**
   * Opens no world for an id from now on: it was given back, or it has one, which would not come back in silence if the
   * store lost it. As far as this process goes, and for the ids that it remembers.
   */
  spend(transportId: string): void {
    this.#spent.add(transportId)
    if (this.#spent.size <= REMEMBERED) return
    const [oldest] = this.#spent
    this.#spent.delete(oldest as string)
  }

  /** What the world of a transport session keeps from its players; `null` where it is not in hand. */
  async secretsOf(principal: Principal, transportId: string): Promise<Secrets | null> {
    const handles = await this.#sessions.handles()
    return this.#sessions.secretsIn(handles.idFor(principal, transportKey(transportId)))
  }

  /**
   * The world of a transport session; `null` before its first call. Throws `session-not-found`, also where the world
   * is another than the one that is named.
   */
  async find(principal: Principal, transportId: string, environment?: string): Promise<Live | null> {
    const handles = await this.#sessions.handles()
    const issuedAt = handles.transportIssuedAt(principal, transportId)
    if (issuedAt === null) throw notFound()
    const live = await this.#sessions.find(handles.idFor(principal, transportKey(transportId)))
    if (!live && this.#spent.has(transportId)) throw notFound()
    if (live ? isClosed(live) : this.#clock.now() / 1_000 - issuedAt > this.#idleSeconds) throw notFound()
    if (live && environment !== undefined && live.environment.name !== environment) throw notFound()
    return live
  }
}

/** The request key under which a transport session opens its world, kept apart from the keys that openers make. */
function transportKey(transportId: string): string {
  return `transport ${transportId}`
}

function isClosed({ session }: Live): boolean {
  const { end } = session.record
  return end?.kind === 'truncated' && end.reason === 'closed'
}
