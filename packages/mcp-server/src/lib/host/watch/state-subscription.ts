import type { SessionState } from '@episodic/state'
import { isSamePart } from '@episodic/state/internal'
import type { CachedSession } from '../sessions/session-cache.ts'
import { watchersOf } from '../sessions/watchers.ts'
import type { WatchSetting } from './watch-log.ts'

/** Milliseconds between two reads of a session from the store: commits of other processes wake no listener here. */
const POLL_INTERVAL = 1_000

/**
 * Notifies listeners when the public state of a session changes, also by another process. Listening does not keep a
 * session from expiring. A session is read once a second, regardless of the number of its listeners.
 */
export class StateSubscriptions {
  readonly #options: Pick<WatchSetting, 'store' | 'clock'>
  readonly #followed = new Set<CachedSession>()
  #stopped = false

  constructor(options: Pick<WatchSetting, 'store' | 'clock'>) {
    this.#options = options
  }

  /**
   * Calls `listener` whenever what a player may see differs from the last state, at first from `seen`, until the
   * returned function is called. That is the public state, and with several seats the part of the state that `seat`
   * alone may see. Other changes are not reported, because the player must not learn of them. Throws `capacity` if the
   * session has too many listeners.
   */
  listen(cached: CachedSession, seat: string | null, seen: SessionState, listener: () => void): () => void {
    const { session } = cached
    const visible = ({ public: shared, own }: SessionState) => (seat === null ? [shared] : [shared, own?.[seat]])
    let last = seen
    return this.follow(cached, () => {
      const { state } = session.record
      const before = visible(last)
      const same = state === last || visible(state).every((part, i) => isSamePart(part, before[i]))
      last = state
      if (!same) listener()
    })
  }

  /** Calls `listener` after each commit, until the returned function is called. Throws `capacity` as {@link listen}. */
  follow(cached: CachedSession, listener: () => void): () => void {
    const stop = watchersOf(cached).listen(listener)
    if (!this.#followed.has(cached)) this.#follow(cached)
    return stop
  }

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
    if (this.#stopped || !watchers?.hasListeners) return
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
