import { openRedisQueue } from '@episodic/fleet/redis/open-redis-queue'
import { startRedis } from '@episodic/run/base/programs.fixture'
import { Redis } from 'ioredis'
import { expect, it } from 'vitest'
import { exampleWorld, openWorkshop } from '../../fixtures/episodic.fixture.ts'

/** Resolves with the notices about a Redis with these options. */
async function noticesOf(options: readonly string[]): Promise<string[]> {
  await using redis = await startRedis(options)
  const notices: string[] = []
  const queue = await openRedisQueue(redis.url, { onNotice: (notice) => notices.push(notice) })
  await queue[Symbol.asyncDispose]()
  return notices
}

it('warns of a Redis that keeps nothing on disk, and of no other', async () => {
  expect(await noticesOf(['--appendonly', 'no'])).toEqual([
    expect.stringMatching(
      /^The Redis at redis:\/\/127\.0\.0\.1:\d+ keeps nothing on disk\..* Start it with --appendonly yes\.$/,
    ),
  ])
  expect(await noticesOf([])).toEqual([])
  expect(await noticesOf(['--appendonly', 'no', '--save', '60 1'])).toEqual([])
})

it('refuses a Redis that may evict the keys of the queue', async () => {
  await using redis = await startRedis(['--maxmemory-policy', 'allkeys-lru'])
  await expect(openRedisQueue(redis.url)).rejects.toMatchObject({
    code: 'option-invalid',
    message: expect.stringContaining('(maxmemory-policy allkeys-lru), and a queue must lose none.'),
  })
})

it('holds no key of a run that is finished, once its workers have ended', async () => {
  await using redis = await startRedis()
  using workshop = openWorkshop()
  const world = exampleWorld('number-guessing')
  const worker = workshop.start(['queue', 'work', world, '--queue', redis.url])
  const run = ['run', world, '--tasks', '20', '--queue', redis.url, '--out', 'finished']
  expect(await workshop.run(run)).toMatchObject({ status: 0 })
  worker.kill('SIGTERM')
  await worker.ended
  const client = new Redis(redis.url)
  expect(await client.keys('*')).toEqual([])
  client.disconnect()
})
