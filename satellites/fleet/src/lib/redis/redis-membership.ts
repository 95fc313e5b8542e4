import type { Job, JobJson, Worker } from 'bullmq'
import type { Announced, Membership, TakenJob } from '../run-queue.ts'
import { createBatch } from './batch.ts'
import type { QueueClient } from './queue-connection.ts'
import { BULL_PREFIX, keysOf, QUEUE_KEYS, type RunKeys } from './queue-keys.ts'

export interface RedisMembershipParts {
  readonly client: QueueClient
  readonly bullmq: typeof import('bullmq')
  readonly worker: string
  /** Receives each worker of BullMQ, which ends with the queue. */
  readonly onOpen: (bull: Worker) => void
  readonly lease: number
}

interface ConsumerParts {
  readonly keys: RunKeys
  readonly held: Map<string, AbortController>
  readonly play: (job: TakenJob) => Promise<void>
  /** Resolves with the plays that were lost, or -1. */
  readonly begin: (taken: readonly [job: string, token: string]) => Promise<number>
  readonly seal: (sealed: readonly [job: string, token: string, text: string]) => Promise<number>
}

/**
 * Returns the class of a worker that reads a job whose text in Redis is damaged as one without a text. BullMQ's own
 * fails, and takes the job again after each lease.
 */
function readingAnyJob(Base: typeof Worker) {
  return class extends Base {
    protected override createJob(job: JobJson, id: string) {
      try {
        return super.createJob(job, id)
      } catch {
        return super.createJob({ ...job, data: '{}' }, id)
      }
    }
  }
}

/** Milliseconds until a command of BullMQ that failed is tried again. */
const RETRY_PAUSE = 500

export function createRedisMembership({ client, bullmq, worker, lease, onOpen }: RedisMembershipParts) {
  let taken = 0
  return {
    async renew(info) {
      const { workers, infos, runs, runPrefix } = QUEUE_KEYS
      // Shorter than the lease of its jobs: when another worker begins one, it is known that this worker has ended.
      const alive = Math.floor(lease / 3)
      const [time = '0', ...entries] = await client.fleetRenewWorker(
        ...[workers, infos, runs, worker, alive, JSON.stringify(info), runPrefix],
      )
      const announced: Announced['runs'][number][] = []
      for (let i = 0; i < entries.length; i += 3) {
        const [id = '', entry = '', life = ''] = entries.slice(i, i + 3)
        const [, origin, announcement = ''] = /^(\S+) \S+ (.*)$/s.exec(entry) ?? []
        announced.push({ id, announcement, life, origin: Number(origin) })
      }
      return { time: Number(time), runs: announced }
    },
    consume(run, slots, play) {
      const keys = keysOf(run)
      const held = new Map<string, AbortController>()
      const parts: ConsumerParts = { keys, held, play, ...createCalls(keys) }
      const bull: Worker = new (readingAnyJob(bullmq.Worker))(keys.bull, (job, token) => playJob(job, token, parts), {
        connection: client,
        prefix: BULL_PREFIX,
        concurrency: slots,
        lockDuration: lease,
        stalledInterval: Math.ceil(lease / 2),
        // The state of the job counts the plays that ended with their worker.
        maxStalledCount: Number.MAX_SAFE_INTEGER,
        runRetryDelay: RETRY_PAUSE,
        removeOnComplete: { count: 0 },
        removeOnFail: { count: 0 },
      })
      onOpen(bull)
      // Without a listener, an error would end the process. What failed is tried again.
      bull.on('error', () => {})
      bull.on('lockRenewalFailed', (ids) => {
        for (const id of ids) held.get(id)?.abort(new Error('the job was given to another worker'))
      })
      return {
        get slots() {
          return bull.concurrency
        },
        set slots(count) {
          bull.concurrency = count
        },
        close: () => bull.close(),
      }
    },
    async [Symbol.asyncDispose]() {
      // A queue that was closed forgets a worker that is silent.
      await client
        .multi()
        .zrem(QUEUE_KEYS.workers, worker)
        .hdel(QUEUE_KEYS.infos, worker)
        .exec()
        .catch(() => null)
    },
  } satisfies Membership

  function createCalls({ jobs, results, account }: RunKeys): Pick<ConsumerParts, 'begin' | 'seal'> {
    return {
      begin: createBatch((taken) => client.fleetBegin(jobs, QUEUE_KEYS.workers, account, ...taken.flat())),
      seal: createBatch((sealed) => client.fleetSeal(jobs, results, account, ...sealed.flat())),
    }
  }

  async function playJob(
    job: Job,
    lock: string | undefined,
    { keys, held, play, begin, seal }: ConsumerParts,
  ): Promise<void> {
    const id = job.id ?? ''
    const token = `${worker}:${taken++}`
    const lost = new AbortController()
    held.set(id, lost)
    let isOver = false
    let isBack = false
    const giveBack = async () => {
      await client.fleetGiveBack(keys.jobs, id, token)
      isBack = true
    }
    try {
      await play({
        id,
        payload: String(job.data?.payload ?? ''),
        signal: lost.signal,
        async begin() {
          const plays = await begin([id, token])
          if (plays < 0) isOver = true
          return plays < 0 ? null : { lost: plays }
        },
        async report(text) {
          await client.fleetReport(keys.jobs, keys.results, id, token, text)
        },
        async seal(text) {
          isOver = true
          return (await seal([id, token, text])) === 1
        },
        giveBack,
      })
      if (!isOver && !isBack) await giveBack()
    } finally {
      held.delete(id)
    }
    if (!isBack) return
    await job.moveToWait(lock)
    throw new bullmq.WaitingError()
  }
}
