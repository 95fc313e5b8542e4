import type { SessionStore } from '@episodic/state'
import { createMemoryStore } from '@episodic/state/memory'

/** A real store whose commits wait until the test lets them through. */
export interface GatedStore {
  readonly store: SessionStore
  /** Resolves when the first commit has arrived. */
  readonly reached: Promise<void>
  /** Lets this commit and all later ones through. */
  open(): void
}

export function createGatedStore(store: SessionStore = createMemoryStore()): GatedStore {
  const reached = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const commit: SessionStore['commit'] = async (...args) => {
    reached.resolve()
    await gate.promise
    return store.commit(...args)
  }
  const gated = new Proxy(store, {
    get(_, name: keyof SessionStore) {
      return name === 'commit' ? commit : store[name].bind(store)
    },
  })
  return { store: gated, reached: reached.promise, open: gate.resolve }
}
