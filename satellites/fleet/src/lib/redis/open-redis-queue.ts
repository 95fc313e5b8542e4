import { randomUUID } from 'node:crypto'
import { importNeeded } from '@episodic/run/base/import-needed'
import { machineClock } from '@episodic/run/base/waiting-clock'
import type { Worker } from 'bullmq'
import { LEASE, type QueueStatus, type RunQueue, type RunQueueOptions } from '../run-queue.ts'
import {
  type ConnectQueueOptions,
  checkPersistence,
  connectQueue,
  QUEUE_PACKAGES,
  type QueueClient,
} from './queue-connection.ts'
import { BULL_PREFIX, keysOf, QUEUE_KEYS } from './queue-keys.ts'
import { accountOf, createRedisCoordination, takeLease } from './redis-coordination.ts'
import { createRedisMembership } from './redis-membership.ts'

export interface OpenRedisQueueOptions extends RunQueueOptions, Pick<ConnectQueueOptions, 'signal'> {
  readonly onNotice?: ((notice: string) => void) | undefined
}

/** Most events that BullMQ keeps of a run. Nothing reads them. */
const EVENTS = 10

/**
 * Opens the queue in the Redis (6.2 or later) at `url`, `redis://` or `rediss://`, which BullMQ gives the jobs out of.
 * Any number of processes may have it open, and any number of runs may be in it.
 *
 * How much it keeps through the death of Redis is decided by its configuration: with `appendonly yes` and `appendfsync
 * always` everything, with `everysec` all but about the last second. What is lost is played again.
 *
 * Rejects with `option-invalid` if `url` is not such an address, if Redis is configured to evict keys, and if the
 * package `bullmq` is not installed; and with `queue-unavailable` if no Redis answers.
 */
export async function openRedisQueue(url: string, options: OpenRedisQueueOptions = {}): Promise<RunQueue> {
  const { lease = LEASE, clock = machineClock, onNotice = () => {}, signal } = options
  const bullmq = await importNeeded('--queue', QUEUE_PACKAGES, () => import('bullmq'))
  const client = await connectQueue(url, { onNotice, signal })
  try {
    await checkPersistence(client, url, onNotice)
  } catch (error) {
    client.disconnect()
    throw error
  }
  return createRedisQueue({ client, bullmq, lease, clock })
}

interface RedisQueueParts extends Required<RunQueueOptions> {
  readonly client: QueueClient
  readonly bullmq: typeof import('bullmq')
  readonly lease: number
}

function createRedisQueue({ client, bullmq, lease, clock }: RedisQueueParts) {
  const workers = new Set<Worker>()
  return {
    async coordinate(run, owner, signal) {
      const token = randomUUID()
      const since = await takeLease({ client, run, owner, token, lease, clock }, signal)
      const bull = bullOf(run.id)
      if ((await client.exists(QUEUE_KEYS.paused)) === 1) await bull.pause()
      return createRedisCoordination({ client, bull, run, owner, token, since, lease, clock })
    },
    async join({ id }) {
      const onOpen = (worker: Worker) => {
        workers.add(worker)
        worker.once('closed', () => workers.delete(worker))
      }
      return createRedisMembership({ client, bullmq, worker: id, lease, onOpen })
    },
    async status() {
      const runs: QueueStatus['runs'][number][] = []
      for (const [id, entry] of Object.entries(await client.hgetall(QUEUE_KEYS.runs))) {
        const { lease, jobs, results, account } = keysOf(id)
        const [host, pid] = await client.fleetLeaseOf(lease)
        const counts = await client.fleetAccount(jobs, results, account)
        runs.push({
          id,
          announcement: /^\S+ \S+ (.*)$/s.exec(entry)?.[1] ?? '',
          coordinator: host === undefined ? null : { host, pid: Number(pid) },
          account: accountOf(counts),
          playing: counts[7] ?? 0,
        })
      }
      const workers = await client.fleetWorkers(QUEUE_KEYS.workers, QUEUE_KEYS.infos)
      const paused = (await client.exists(QUEUE_KEYS.paused)) === 1
      return { paused, runs, workers: workers.map((info) => JSON.parse(info)) }
    },
    async checkWritable() {
      await client.set(QUEUE_KEYS.writable, '1', 'EX', 60)
    },
    async setPaused(isPaused) {
      if (isPaused) await client.set(QUEUE_KEYS.paused, '1')
      else await client.del(QUEUE_KEYS.paused)
      for (const id of await client.hkeys(QUEUE_KEYS.runs)) {
        const bull = bullOf(id)
        await (isPaused ? bull.pause() : bull.resume())
        await bull.close()
      }
    },
    async remove(run) {
      const { lease, jobs, results, account } = keysOf(run)
      if ((await client.fleetRemove(QUEUE_KEYS.runs, lease, jobs, results, account, run)) === 0) return false
      const bull = bullOf(run)
      await bull.obliterate({ force: true })
      await bull.close()
      return true
    },
    async [Symbol.asyncDispose]() {
      // First, since workers wait for answers. What was sent is done, and `quit` would wait for a Redis that does not
      // answer.
      client.disconnect()
      await Promise.all([...workers].map((worker) => worker.close(true).catch(() => {})))
    },
  } satisfies RunQueue

  function bullOf(run: string) {
    const bull = new bullmq.Queue(keysOf(run).bull, {
      connection: client,
      prefix: BULL_PREFIX,
      defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
      streams: { events: { maxLen: EVENTS } },
    })
    bull.on('error', () => {})
    return bull
  }
}
