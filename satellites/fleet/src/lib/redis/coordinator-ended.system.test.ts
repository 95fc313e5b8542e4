import { spawnSync } from 'node:child_process'
import { startRedis } from '@episodic/run/base/programs.fixture'
import { expect, it } from 'vitest'
import { processTable } from '../process-table.ts'
import type { CoordinatorInfo } from '../run-queue.ts'
import { openRedisQueue } from './open-redis-queue.ts'

const RUN = { id: 'run', announcement: 'text', digest: 'digest', elapsed: 0 }
/** Of a process that has ended. */
const { pid: ended } = spawnSync('true')
const { signal } = new AbortController()

it('takes the run of a coordinator that has ended on the same machine, before its lease ends', async () => {
  await using redis = await startRedis()
  // Nothing of this test takes as long as the lease.
  await using queue = await openRedisQueue(redis.url, { lease: 600_000 })
  const processes = processTable()
  await queue.coordinate(RUN, { host: 'same', pid: ended, processes }, signal)
  await using coordination = await queue.coordinate(RUN, { host: 'other', pid: process.pid, processes }, signal)
  await coordination.renew(String)
})

it.each<[string, Partial<CoordinatorInfo>]>([
  ['in another container', { processes: 'another container' }],
  ['of which that is not known', { processes: '' }],
])('leaves its run to a coordinator of the same host and number %s', async (_, owner) => {
  await using redis = await startRedis()
  await using queue = await openRedisQueue(redis.url, { lease: 5_000 })
  await using first = await queue.coordinate(RUN, { host: 'same', pid: ended, ...owner }, signal)
  const refused = expect(
    queue.coordinate(RUN, { host: 'same', pid: ended, processes: processTable() }, signal),
  ).rejects.toMatchObject({ code: 'run-locked' })
  const renewing = setInterval(() => void first.renew(String).catch(() => {}), 100)
  await refused
  clearInterval(renewing)
  await first.renew(String)
})
