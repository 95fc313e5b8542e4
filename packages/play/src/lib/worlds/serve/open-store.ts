import { invalidOption } from '@episodic/run/base/harness-error'
import type { SessionStore } from '@episodic/state'
import { createMemoryStore } from '@episodic/state/memory'

export interface StoreOptions {
  /** `memory`, `sqlite:<file>`, or the URL of a Redis. */
  readonly store: string
  readonly durability: 'process' | 'power'
  /** Seconds after its last call until a session expires. */
  readonly idle: number
}

/** Opens the store that `--store` names. Rejects with `option-invalid` if it names none. */
export async function openStore({ store, durability, idle }: StoreOptions): Promise<SessionStore> {
  if (store === 'memory') return createMemoryStore()
  if (isShared(store)) {
    // A server loads the store that it uses.
    const { openRedisStore } = await import('@episodic/state/redis')
    // Expires sessions if no server is left to remove them, long after a server would have.
    return openRedisStore(store, { ttlSeconds: Math.max(86_400, 2 * idle) })
  }
  const file = /^sqlite:(.+)$/.exec(store)?.[1]
  if (file && /^\/\/|[?#]/.test(file))
    throw invalidOption(
      `--store ${store} is written as a URL, and what follows sqlite: is the path of a file, without options. Give sqlite:<file>, such as sqlite:sessions.db.`,
    )
  if (file) return (await import('@episodic/state/sqlite')).openSqliteStore(file, { durability })
  throw invalidOption(`--store ${store} is not a store. Give memory, sqlite:<file> or redis://<host>:<port>.`)
}

export function isShared(store: string): boolean {
  return /^rediss?:\/\//.test(store)
}
