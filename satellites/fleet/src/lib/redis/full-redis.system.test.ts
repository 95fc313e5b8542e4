import { startRedis } from '@episodic/run/base/programs.fixture'
import { Redis } from 'ioredis'
import { expect, it, onTestFinished } from 'vitest'
import { openRedisQueue } from './open-redis-queue.ts'

const NEVER = new AbortController().signal
const WORKER = { id: 'worker', host: 'there', pid: 2, version: '1', slots: 1, worlds: [], plays: ['run'], declines: {} }

async function openQueue(signal = NEVER) {
  const redis = await startRedis()
  const admin = new Redis(redis.url)
  const noticed = [Promise.withResolvers<string>(), Promise.withResolvers<string>()]
  let notices = 0
  const onNotice = (notice: string) => noticed[notices++]?.resolve(notice)
  const queue = await openRedisQueue(redis.url, { onNotice, signal })
  onTestFinished(async () => {
    await queue[Symbol.asyncDispose]()
    admin.disconnect()
    await redis[Symbol.asyncDispose]()
  })
  const run = { id: 'run', digest: 'digest', announcement: '{}', elapsed: 0 }
  const coordination = await queue.coordinate(run, { host: 'here', pid: 1 }, NEVER)
  return {
    queue,
    coordination,
    noticed: noticed.map(({ promise }) => promise),
    fill: (isFull: boolean) => admin.config('SET', 'maxmemory', isFull ? 1 : 0),
  }
}

it('is waited for by coordinators and workers while its memory is full, and nothing is lost', async () => {
  const { queue, coordination, noticed, fill } = await openQueue()
  const membership = await queue.join(WORKER)
  await membership.renew(WORKER)
  const begun = Promise.withResolvers<void>()
  const full = Promise.withResolvers<void>()
  const consumer = membership.consume('run', 1, async (job) => {
    await job.begin()
    begun.resolve()
    await full.promise
    expect(await job.seal(`result of ${job.id}`)).toBe(true)
  })
  await coordination.add([{ id: 'first', payload: '{}' }])
  await begun.promise
  await fill(true)
  full.resolve()
  const added = coordination.add([{ id: 'second', payload: '{}' }])
  expect(await noticed[0]).toMatch(/takes no writes: its memory or its disk is full\. Waiting for it\.$/)
  await fill(false)
  await added
  expect(await noticed[1]).toMatch(/takes writes again\.$/)
  const stop = new AbortController()
  const texts: string[] = []
  for await (const batch of coordination.results(stop.signal)) {
    texts.push(...batch.map(({ text }) => text))
    if (texts.length === 2) break
  }
  expect(texts).toEqual(['result of first', 'result of second'])
  await consumer.close()
  await membership[Symbol.asyncDispose]()
})
