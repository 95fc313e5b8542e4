import { startRedis } from '@episodic/run/base/programs.fixture'
import { Redis } from 'ioredis'
import { afterAll, expect, it } from 'vitest'
import { describeModelLimit } from './model-limit-contract.fixture.ts'
import { createRedisModelLimit } from './redis-model-limit.ts'

const server = await startRedis()
const redis = new Redis(server.url)
afterAll(async () => {
  redis.disconnect()
  await server[Symbol.asyncDispose]()
})

let created = 0
describeModelLimit('createRedisModelLimit', (now) => createRedisModelLimit(redis, { prefix: `t${created++}:`, now }))

it('holds for all connections, by the clock of Redis, and leaves no keys behind', async () => {
  const other = new Redis(server.url)
  const rates = { requestsPerMinute: 1, tokensPerMinute: null }
  const first = createRedisModelLimit(redis, { prefix: 'shared:' })
  const second = createRedisModelLimit(other, { prefix: 'shared:' })
  expect(await first.reserve('m', rates, 0)).toBe(0)
  const wait = await second.reserve('m', rates, 0)
  expect(wait).toBeGreaterThan(0)
  expect(wait).toBeLessThanOrEqual(60_000)
  await first.pause('m', 3_600_000)
  expect(await second.pausedFor('m')).toBeGreaterThan(3_000_000)
  const left = await redis.pttl('shared:model:m')
  expect(left).toBeGreaterThan(0)
  expect(left).toBeLessThanOrEqual(3_660_000)
  other.disconnect()
})
