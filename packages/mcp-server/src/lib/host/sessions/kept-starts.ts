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

export type KeptStarts = ReturnType<typeof createKeptStarts>

/**
 * Has the store keep starts between two sessions. The pages of a start go with the last session that began with it, so
 * that a player of one episode at a time would write all of them for each. A start that is written a second time is
 * kept from then on, until no session has begun with it for the idle time.
 */
export function createKeptStarts(options: KeptStartsOptions) {
  const written = new Set<string>()
  /** The pools that are kept, and when a session last began with them, in monotonic milliseconds; the latest last. */
  const kept = new Map<string, number>()
  return {
    began(pool: string, isNew: boolean): Promise<void> | null {
      const isKept = kept.delete(pool)
      if (isKept || (isNew && written.delete(pool))) {
        kept.set(pool, options.clock.monotonic())
        if (kept.size > MOST) kept.delete(first(kept))
        if (isNew) return hold()
      } else if (isNew) {
        written.add(pool)
        if (written.size > MOST_WRITTEN) written.delete(first(written))
      }
      return null
    },
    /** Lets go of the starts that no session has begun with for the idle time, and keeps the others for longer. */
    async sweep(): Promise<void> {
      if (kept.size === 0) return
      const { clock, idleSeconds } = options
      for (const [pool, began] of kept) {
        if (clock.monotonic() - began <= idleSeconds * 1_000) continue
        kept.delete(pool)
        written.add(pool)
      }
      await hold()
    },
    async release(): Promise<void> {
      if (kept.size === 0) return
      kept.clear()
      await hold()
    },
  }

  /** What a store that fails does not keep is written again. */
  async function hold(): Promise<void> {
    await options.store.hold([...kept.keys()]).catch(() => {})
  }
}

function first(pools: { keys(): Iterator<string> }): string {
  return pools.keys().next().value as string
}
