import type { SessionStore } from '@episodic/state'
import { createMemoryStore } from '@episodic/state/memory'
import { openSqliteStore } from '@episodic/state/sqlite'
import { HarnessError } from '../harness-error.ts'

export interface StoreOptions {
  /** `memory`, `sqlite:<file>`, or the URL of a Redis. */
  readonly store: string
  readonly durability: 'process' | 'power'
  /** Seconds after its last call until a session expires. */
  readonly idle: number
}

/** Opens the store that an option names. Throws `option-invalid` for what names none. */
export async function openStore({ store, durability, idle }: StoreOptions): Promise<SessionStore> {
  if (store === 'memory') return createMemoryStore()
  if (isShared(store)) {
    // Loaded where it is wanted: most servers have no Redis.
    const { openRedisStore } = await import('@episodic/state/redis')
    // What nobody is left to sweep goes by itself, long after a server would have swept it.
    return openRedisStore(store, { ttlSeconds: Math.max(86_400, 2 * idle) })
  }
  const file = /^sqlite:(.+)$/.exec(store)?.[1]
  if (file) return openSqliteStore(file, { durability })
  throw new HarnessError(
    'option-invalid',
    `--store ${store} is not a store. There is: memory, sqlite:<file>, redis://<host>:<port>.`,
  )
}

/** Whether several processes can hold the store at once. */
export function isShared(store: string): boolean {
  return /^rediss?:\/\//.test(store)
}
