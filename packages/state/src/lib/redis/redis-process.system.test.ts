import { afterEach, describe, expect, it, vi } from 'vitest'
import { adding, openCountingSession, play } from '../fixtures/counting-session.fixture.ts'
import { NEEDS_REDIS, type Persistence, RedisServer, withoutRedis } from '../fixtures/redis-server.fixture.ts'
import { openRedisStore, type RedisStoreOptions } from './redis-store.ts'

const RETRY = { timeout: 120_000, interval: 20 }

describe.skipIf(withoutRedis)(`a Redis store and processes (${NEEDS_REDIS})`, () => {
  afterEach(() => cleanUp.splice(0).reduceRight((done, dispose) => done.then(dispose), Promise.resolve()))
  const cleanUp: (() => Promise<void>)[] = []
  const use = <T extends AsyncDisposable>(resource: T): T => {
    cleanUp.push(async () => resource[Symbol.asyncDispose]())
    return resource
  }
  const startRedis = async (persistence: Persistence) => use(await RedisServer.start(persistence))
  const openStore = async ({ url }: RedisServer, options?: RedisStoreOptions) => use(await openRedisStore(url, options))

  it('says so when Redis comes back with nothing, and takes new sessions', async () => {
    const redis = await startRedis('snapshots')
    const store = await openStore(redis)
    const { session } = await openCountingSession({ store })
    await play(session, adding(1, 0))
    await redis.kill()
    await redis.start()
    await vi.waitFor(() => store.count(), RETRY)
    for (const move of [adding(1, 1), adding(1, 0), adding(1)])
      await expect(play(session, move)).rejects.toMatchObject({ code: 'session-not-found' })
    const { session: next } = await openCountingSession({ store, id: 'counting-2' })
    expect((await play(next, adding(3, 0))).step.observation.text).toBe('now 3')
  })

  it('fails what a Redis that hangs leaves unanswered, and settles it afterwards', async () => {
    const redis = await startRedis('aof')
    const store = await openStore(redis, { timeoutSeconds: 5 })
    const { session } = await openCountingSession({ store })
    await play(session, adding(1, 0))
    redis.freeze()
    await expect(play(session, adding(2, 1))).rejects.toMatchObject({ code: 'store-unavailable' })
    redis.thaw()
    // Whether the commit came through in the end or not, the step is applied once.
    const { step } = await vi.waitFor(() => play(session, adding(2, 1)), RETRY)
    expect(step.observation.text).toBe('now 3')
    expect(await session.refresh()).toMatchObject({ revision: 2, seats: { agent: { seq: 2 } } })
  })
})
