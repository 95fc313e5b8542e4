import type { Clock, SessionStore } from '@episodic/state'

export interface KeptStartsOptions {
  readonly store: SessionStore
  readonly clock: Clock
  readonly idleSeconds: number
}

/** Starts that are kept at most: each may be as large as a state. */
const MOST = 8
/** Starts that are recognised at most when they are written again. */
const MOST_WRITTEN = 1_000

/**
 * Has the store keep starts between two sessions. The pages of a start go with the last session that began with it, so
 * that a player of one episode at a time would write all of them for each. A start that is written a second time is
 * kept from then on, until no session has begun with it for the idle time.
 */
export class KeptStarts {
  readonly #options: KeptStartsOptions
  readonly #written = new Set<string>()
  /** The pools that are kept, and when a session last began with them, in monotonic milliseconds; the latest last. */
  readonly #kept = new Map<string, number>()

  constructor(options: KeptStartsOptions) {
    this.#options = options
  }

  began(pool: string, isNew: boolean): Promise<void> | null {
    const isKept = this.#kept.delete(pool)
    if (isKept || (isNew && this.#written.delete(pool))) {
      this.#kept.set(pool, this.#options.clock.monotonic())
      if (this.#kept.size > MOST) this.#kept.delete(first(this.#kept))
      if (isNew) return this.#hold()
    } else if (isNew) {
      this.#written.add(pool)
      if (this.#written.size > MOST_WRITTEN) this.#written.delete(first(this.#written))
    }
    return null
  }

  /** Lets go of the starts that no session has begun with for the idle time, and keeps the others for longer. */
  async sweep(): Promise<void> {
    if (this.#kept.size === 0) return
    const { clock, idleSeconds } = this.#options
    for (const [pool, began] of this.#kept) {
      if (clock.monotonic() - began <= idleSeconds * 1_000) continue
      this.#kept.delete(pool)
      this.#written.add(pool)
    }
    await this.#hold()
  }

  async release(): Promise<void> {
    if (this.#kept.size === 0) return
    this.#kept.clear()
    await this.#hold()
  }

  /** What a store that fails does not keep is written again. */
  async #hold(): Promise<void> {
    await this.#options.store.hold([...this.#kept.keys()]).catch(() => {})
  }
}

function first(pools: { keys(): Iterator<string> }): string {
  return pools.keys().next().value as string
}
