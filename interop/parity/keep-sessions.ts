import type { SessionStore } from '@episodic/state'
import { type SealedSession, sealSession } from './seal-session.ts'

/** The longest log of a session that is read. */
const MOST_ENTRIES = 100_000

/** A store that still has what it removed. */
export interface KeptSessions {
  readonly store: SessionStore
  /** Resolves with every session that was ever created, removed ones as they were at their removal. */
  seal(): Promise<readonly SealedSession[]>
}

/** Wraps a store: clients close their sessions, which removes them, and their logs are compared afterwards. */
export function keepSessions(store: SessionStore): KeptSessions {
  const removed: SealedSession[] = []
  const read = async (id: string): Promise<SealedSession | null> => {
    const stored = await store.read(id)
    return stored && sealSession(stored, await store.readLog(id, { after: 0, limit: MOST_ENTRIES }))
  }
  const remove: SessionStore['remove'] = async (id) => {
    const sealed = await read(id)
    const done = await store.remove(id)
    if (done && sealed) removed.push(sealed)
    return done
  }
  return {
    store: new Proxy(store, {
      get: (_, name: keyof SessionStore) => (name === 'remove' ? remove : store[name].bind(store)),
    }),
    async seal() {
      const present = await store.list({ limit: MOST_ENTRIES })
      const sealed = await Promise.all(present.map(({ id }) => read(id)))
      return [...removed, ...sealed.filter((session) => session !== null)]
    },
  }
}
