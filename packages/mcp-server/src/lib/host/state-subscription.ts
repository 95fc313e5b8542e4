import type { JsonObject } from '@episodic/protocol'
import type { Clock, SessionStore } from '@episodic/state'
import type { CachedSession } from './session-cache.ts'

/** Milliseconds between two reads of a session from the store: commits of other processes wake no listener here. */
const POLL_INTERVAL = 1_000

export interface StateSubscriptionsOptions {
  readonly store: SessionStore
  readonly clock: Clock
}

/**
 * Notifies listeners when the public state of a session changes, also by another process. Listening does not keep a
 * session from expiring. A session is read once a second, regardless of the number of its listeners.
 */
export class StateSubscriptions {
  readonly #options: StateSubscriptionsOptions
  readonly #followed = new Set<CachedSession>()
  #stopped = false

  constructor(options: StateSubscriptionsOptions) {
    this.#options = options
  }

  /**
   * Calls `listener` whenever the public state differs from the last one, at first from `seen`, until the returned
   * function is called. Changes of the private state alone are not reported, because players must not learn of them.
   * Throws `capacity` if the session has too many listeners.
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

  /** Stops reading sessions. */
  stop(): void {
    this.#stopped = true
  }

  #follow(cached: CachedSession): void {
    this.#followed.add(cached)
    this.#options.clock.after(POLL_INTERVAL, () => this.#poll(cached))
  }

  async #poll(cached: CachedSession): Promise<void> {
    const { session, watchers } = cached
    this.#followed.delete(cached)
    if (this.#stopped || !watchers.hasListeners) return
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
