import type { JsonObject } from '@episodic/protocol'
import type { Clock, SessionStore } from '@episodic/state'
import type { CachedSession } from './session-cache.ts'

/** How often a session is looked at in the store, in milliseconds: commits of other processes wake nobody here. */
const LOOK_INTERVAL = 1_000

export interface StateSubscriptionsOptions {
  readonly store: SessionStore
  readonly clock: Clock
}

/**
 * Tells when the public state of a session changes, whoever commits it. To listen is not to use: it keeps no session from
 * expiring. However many listen to one session, it is looked at once a second.
 */
export class StateSubscriptions {
  readonly #options: StateSubscriptionsOptions
  readonly #followed = new Set<CachedSession>()
  #stopped = false

  constructor(options: StateSubscriptionsOptions) {
    this.#options = options
  }

  /**
   * Calls `listener` whenever the public state is another than it was, `seen` at first, until the function that it returns is
   * called. When the rest of the state changes, and nothing else, is not for players to know. Throws `capacity` where too many
   * listen.
   */
  listen(cached: CachedSession, seen: JsonObject, listener: () => void): () => void {
    const { session, watchers } = cached
    let last = seen
    const stop = watchers.listen(() => {
      const present = session.record.state.public
      const same = present === last || JSON.stringify(present) === JSON.stringify(last)
      last = present
      if (!same) listener()
    })
    if (!this.#followed.has(cached)) this.#follow(cached)
    return stop
  }

  /** Looks at nothing any more. */
  stop(): void {
    this.#stopped = true
  }

  #follow(cached: CachedSession): void {
    this.#followed.add(cached)
    this.#options.clock.after(LOOK_INTERVAL, () => this.#look(cached))
  }

  async #look(cached: CachedSession): Promise<void> {
    const { session, watchers } = cached
    this.#followed.delete(cached)
    if (this.#stopped || !watchers.heard) return
    try {
      const stored = await this.#options.store.read(session.record.id)
      if (!stored) return
      if (stored.revision > session.record.revision) {
        await session.refresh()
        watchers.wake()
      }
    } catch {
      // A store that does not answer may do so the next time.
    }
    if (!this.#followed.has(cached)) this.#follow(cached)
  }
}
