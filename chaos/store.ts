import { join } from 'node:path'
import { startRedis } from './redis.ts'

/** A durable store for servers to be started on. */
export interface ChaosStore extends AsyncDisposable {
  /** What `--store` takes. */
  readonly address: string
}

/** Makes the store of a kind: a SQLite file, or a Redis server of its own. */
export async function openStore(kind: string | undefined, folder: string): Promise<ChaosStore> {
  if (kind === 'sqlite') return { address: `sqlite:${join(folder, 'sessions.db')}`, async [Symbol.asyncDispose]() {} }
  if (kind !== 'redis') throw new Error(`--store ${kind} is not a store for this. There is: sqlite, redis.`)
  const redis = await startRedis(join(folder, 'redis'))
  return { address: redis.url, [Symbol.asyncDispose]: () => redis[Symbol.asyncDispose]() }
}
