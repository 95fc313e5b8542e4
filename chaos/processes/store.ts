import { join } from 'node:path'
import type { SessionStore } from '@episodic/state'
import { openRedisStore } from '@episodic/state/redis'
import { openSqliteStore } from '@episodic/state/sqlite'
import { startRedis } from './redis.ts'

/** A durable store for servers to be started on. */
export interface ChaosStore extends AsyncDisposable {
  /** What `--store` takes. */
  readonly address: string
  /** Opens it here, once no server uses it any more. */
  open(): Promise<SessionStore>
}

/** Makes the store of a kind: a SQLite file, or a Redis server of its own. */
export async function openStore(kind: string | undefined, folder: string): Promise<ChaosStore> {
  if (kind === 'sqlite') {
    const path = join(folder, 'sessions.db')
    return { address: `sqlite:${path}`, open: () => openSqliteStore(path), async [Symbol.asyncDispose]() {} }
  }
  if (kind !== 'redis') throw new Error(`--store ${kind} is not a store for this. There is: sqlite, redis.`)
  const redis = await startRedis(join(folder, 'redis'))
  const open = () => openRedisStore(redis.url)
  return { address: redis.url, open, [Symbol.asyncDispose]: () => redis[Symbol.asyncDispose]() }
}

/**
 * O7: removes the sessions that nobody has closed, and resolves with how many there were and with the number of pages
 * that are left after that. Such a session was opened for a client that gave up before it was answered.
 */
export async function clearStore(
  open: () => Promise<SessionStore>,
): Promise<{ readonly unclosed: number; readonly pagesLeft: number }> {
  await using store = await open()
  const unclosed = await store.list({ limit: 1_000 })
  for (const { id } of unclosed) await store.remove(id)
  // Servers that were killed may have held starts.
  await store.hold([])
  return { unclosed: unclosed.length, pagesLeft: await store.countPages() }
}
