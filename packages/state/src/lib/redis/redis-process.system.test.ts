import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { adding, openCountingSession, play, totalOf } from '../fixtures/counting-session.fixture.ts'
import { NEEDS_REDIS, type Persistence, RedisServer, withoutRedis } from '../fixtures/redis-server.fixture.ts'
import { allWrittenPages, writtenPages } from '../fixtures/written-pages.fixture.ts'
import { StateError } from '../state-error.ts'
import { sessionOf } from '../testing/session-store.samples.ts'
import { openRedisStore, type RedisStoreOptions } from './redis-store.ts'

const WRITER = fileURLToPath(new URL('../fixtures/redis-writer.fixture.ts', import.meta.url))
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

  it('neither loses nor doubles a step when Redis is killed and restarted while sessions play', async () => {
    const redis = await startRedis('aof')
    const store = await openStore(redis)
    const ids = Array.from({ length: 8 }, (_, index) => `counting-${index}`)
    const counting = await Promise.all(ids.map((id) => openCountingSession({ store, id })))
    let answered = 0
    let lost = 0
    const steps = 60
    const playing = counting.map(async ({ session }) => {
      for (let seq = 0; seq < steps; ) {
        try {
          const { step } = await play(session, adding(1, seq))
          expect(step.observation.text).toBe(`now ${seq + 1}`)
          answered += 1
          seq += 1
        } catch (error) {
          // The only failure allowed; the same step is then sent again.
          if (!StateError.is(error, 'store-unavailable')) throw error
          lost += 1
        }
      }
    })
    for (const after of [20, 150, 300]) {
      await vi.waitUntil(() => answered >= after, { timeout: 120_000, interval: 1 })
      await redis.kill()
      await redis.start()
    }
    await Promise.all(playing)
    expect(lost).toBeGreaterThan(0)
    for (const [index, { another }] of counting.entries()) {
      const record = await (await another()).refresh()
      expect(record).toMatchObject({ revision: steps, seats: { agent: { seq: steps } } })
      expect(totalOf(record)).toBe(steps)
      const log = await store.readLog(ids[index] as string, { after: 0, limit: 1_000 })
      expect(log.map(({ revision }) => revision)).toEqual(Array.from({ length: steps }, (_, step) => step + 1))
    }
  })

  it('has all pages of each commit or none of them when Redis is killed while they are written', async () => {
    const redis = await startRedis('aof')
    const store = await openStore(redis)
    const begun = writtenPages('start', 0)
    const ids = Array.from({ length: 8 }, (_, index) => `session-${index}`)
    for (const id of ids) await store.create(sessionOf(id, { pools: ['start'] }), { pool: 'start', pages: begun })
    const commits = 60
    let acknowledged = 0
    const writing = ids.map(async (id) => {
      for (;;) {
        const { revision = 0 } = (await store.read(id).catch(passUnavailable)) ?? {}
        if (revision === commits) return
        const next = sessionOf(id, { revision: revision + 1, pools: ['start'] })
        const pages = writtenPages(id, revision + 1)
        const writing = Promise.resolve(store.commit(next, { revision, epoch: 1 }, undefined, pages))
        const wrote = await writing.catch(passUnavailable)
        if (wrote) acknowledged += 1
      }
    })
    for (const after of [20, 150, 300]) {
      await vi.waitUntil(() => acknowledged >= after, { timeout: 120_000, interval: 1 })
      await redis.kill()
      await redis.start()
      for (const { id, revision } of await vi.waitFor(() => store.list({ limit: 9 }), RETRY)) {
        const written = [...begun, ...allWrittenPages(id, revision)]
        const names = written.map(({ name }) => name)
        expect(await vi.waitFor(() => store.readPages(id, names), RETRY)).toEqual(written.map(({ text }) => text))
      }
    }
    await Promise.all(writing)
    expect(await store.countPages()).toBe((1 + ids.length * commits) * begun.length)
    for (const id of ids) await store.remove(id)
    expect(await store.countPages()).toBe(0)
  })

  it('rejects with state-lost when Redis restarts with less than was acknowledged', async () => {
    const redis = await startRedis('snapshots')
    const store = await openStore(redis)
    const { session, another } = await openCountingSession({ store })
    for (const seq of [0, 1]) await play(session, adding(1, seq))
    await using client = redis.client()
    await client.save()
    for (const seq of [2, 3]) await play(session, adding(1, seq))
    await redis.kill()
    await redis.start()
    await vi.waitFor(() => store.count(), RETRY)

    const fresh = await another()
    for (const call of [
      () => play(session, adding(1, 4)),
      () => play(session, adding(1)),
      () => session.refresh(),
      () => play(fresh, adding(1, 4)),
    ])
      await expect(call()).rejects.toMatchObject({ code: 'state-lost' })
    expect(await fresh.refresh()).toMatchObject({ revision: 2 })
  })

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

  it('loses no step of two processes that play one session at once', async () => {
    const redis = await startRedis('aof')
    const { session, store } = await openCountingSession({ store: await openStore(redis), limits: { steps: 10_000 } })
    const each = 40
    const answers = await Promise.all([startWriter(redis.url, each), startWriter(redis.url, each)])
    const revisions = answers.flat().map(({ report }) => report.revision)
    const all = Array.from({ length: 2 * each }, (_, index) => index + 1)
    expect(revisions.sort((a, b) => a - b)).toEqual(all)
    const record = await session.refresh()
    expect(record).toMatchObject({ revision: 2 * each, seats: { agent: { seq: 2 * each } } })
    expect(totalOf(record)).toBe(2 * each)
    const log = await store.readLog('counting-1', { after: 0, limit: 1_000 })
    expect(log.map(({ revision }) => revision)).toEqual(all)
  })
})

/** Passes over the only failure that a killed Redis may cause. */
function passUnavailable(error: unknown): null {
  if (StateError.is(error, 'store-unavailable')) return null
  throw error
}

/** Plays so many steps in another process, and resolves with the answers. */
async function startWriter(url: string, steps: number): Promise<{ readonly report: { readonly revision: number } }[]> {
  const child = spawn(process.execPath, [WRITER, url, `${steps}`], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  const answers = []
  for await (const line of createInterface({ input: child.stdout })) answers.push(JSON.parse(line))
  expect(await exited).toEqual([0, null])
  return answers
}
