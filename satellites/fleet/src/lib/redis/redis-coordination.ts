import { HarnessError } from '@episodic/run/base/harness-error'
import type { WaitingClock } from '@episodic/run/base/waiting-clock'
import type { Queue } from 'bullmq'
import { isAlive } from '../process-table.ts'
import type { Coordination, CoordinatorInfo, QueuedResult, RunAccount, RunEntry } from '../run-queue.ts'
import type { QueueClient } from './queue-connection.ts'
import { keysOf, QUEUE_KEYS } from './queue-keys.ts'

const BATCH = 512
const READ_TIMEOUT = 1_000
/**
 * Milliseconds between two reads. Results that come meanwhile are read together, and cost one write to the file of the
 * run and two calls of Redis together. No slot waits for that, since there are more jobs in the queue than slots.
 */
const GATHER = 10

export interface RedisCoordinationParts {
  readonly client: QueueClient
  readonly bull: Queue
  readonly run: RunEntry
  readonly owner: CoordinatorInfo
  readonly token: string
  /** Since when it has the run, by the clock of Redis. */
  readonly since: string
  readonly lease: number
  readonly clock: WaitingClock
}

type LeaseParts = Omit<RedisCoordinationParts, 'bull' | 'since'>

export async function takeLease(parts: LeaseParts, signal: AbortSignal): Promise<string> {
  const { run, owner, lease, clock } = parts
  let seen = { token: '', until: '' }
  for (let ended = ''; ; ) {
    signal.throwIfAborted()
    const [answer = '', held = '', until = '', host = '', pid = '', table = ''] = await askForLease(parts, { ended })
    if (answer === 'taken') return held
    if (answer === 'differs')
      throw new HarnessError(
        'run-mismatch',
        `The queue holds another run of the id ${run.id}, with another configuration. Remove that one: episodic queue remove ${run.id} --queue …`,
      )
    if (seen.token === held && seen.until !== until)
      throw new HarnessError(
        'run-locked',
        `Process ${pid} on ${host} coordinates this run. Wait for it, stop it, or give another --out.`,
      )
    seen = { token: held, until }
    // A coordinator that was killed cannot end its lease, but its own machine knows.
    if (table !== '' && table === owner.processes && !isAlive(Number(pid))) ended = held
    else await clock.wait(lease / 2, signal)
  }
}

function askForLease(
  { client, run, owner, token, lease }: LeaseParts,
  { ended = '', since = '' }: { readonly ended?: string; readonly since?: string },
): Promise<string[]> {
  const { id, digest, announcement, elapsed } = run
  return client.fleetCoordinate(
    ...[QUEUE_KEYS.runs, keysOf(id).lease, id, digest, announcement, Math.round(elapsed)],
    ...[token, owner.host, owner.pid, owner.processes ?? '', lease, ended, since],
  )
}

export function createRedisCoordination(parts: RedisCoordinationParts) {
  const { client, bull, run, token, lease, clock } = parts
  let isEnded = false
  const keysFor = keysOf(run.id)
  return {
    async add(jobs) {
      const { jobs: states, lease, account } = keysFor
      const ids = jobs.map(({ id }) => id)
      const open = await asHolder(() => client.fleetAddJobs(states, lease, account, token, ...ids), 0)
      const isOpen = new Set(open)
      const added = jobs.filter(({ id }) => isOpen.has(id))
      if (added.length > 0)
        await client.write(() =>
          bull.addBulk(added.map(({ id, payload }) => ({ name: 'play', data: { payload }, opts: { jobId: id } }))),
        )
    },
    async *results(signal: AbortSignal): AsyncGenerator<readonly QueuedResult[]> {
      // A connection of its own, since it waits.
      const reader = client.duplicate()
      reader.on('error', () => {})
      // After a crash, Redis may number new results lower than those that it lost.
      let isAnew = false
      const stop = () => reader.disconnect()
      signal.addEventListener('abort', stop)
      try {
        await reader.connect().catch(() => {})
        reader.on('ready', () => {
          isAnew = true
        })
        for (let last = '0'; !signal.aborted; ) {
          if (isAnew) last = '0'
          isAnew = false
          const read = await reader
            .xread('COUNT', BATCH, 'BLOCK', READ_TIMEOUT, 'STREAMS', keysFor.results, last)
            .catch((error: unknown) => {
              if (!signal.aborted) throw error
              return null
            })
          const [, entries = []] = (read?.[0] ?? []) as [string, [string, string[]][]] | []
          const batch = entries.map(([key, fields]) => ({ key, job: fields[1] ?? '', text: fields[3] ?? '' }))
          if (batch.length === 0) continue
          last = batch.at(-1)?.key ?? last
          yield batch
          await clock.wait(GATHER, signal)
        }
      } finally {
        signal.removeEventListener('abort', stop)
        reader.disconnect()
      }
    },
    async acknowledge(results) {
      const { jobs, results: stream, lease } = keysFor
      const pairs = results.flatMap(({ job, key }) => [job, key])
      await asHolder(() => client.fleetAcknowledge(jobs, stream, lease, token, ...pairs), 0)
    },
    async withdraw() {
      const { jobs, lease, account } = keysFor
      const withdrawn = await asHolder(() => client.fleetWithdraw(jobs, lease, account, token), -1)
      await answerOf(bull.drain())
      return withdrawn
    },
    async renew(toLife) {
      const keys = [keysFor.lease, QUEUE_KEYS.workers, QUEUE_KEYS.infos]
      const [seconds = 0] = await answerOf(client.time())
      const life = toLife(1_000 * seconds + lease)
      const workers = await asHolder(() => client.fleetRenewLease(...keys, token, lease, life), 0)
      return workers.map((info) => JSON.parse(info))
    },
    async account() {
      return accountOf(await client.fleetAccount(keysFor.jobs, keysFor.results, keysFor.account))
    },
    end,
    async [Symbol.asyncDispose]() {
      if (!isEnded) await end(false).catch(() => {})
      await bull.close()
    },
  } satisfies Coordination

  async function end(isComplete: boolean): Promise<RunAccount> {
    const { lease, jobs, results, account } = keysFor
    const keys = [QUEUE_KEYS.runs, lease, jobs, results, account]
    const ended = await asHolder(() => client.fleetEnd(...keys, token, run.id, isComplete ? 1 : 0), 0)
    isEnded = true
    const [isRemoved, counts] = ended
    if (isRemoved === 1) await answerOf(bull.obliterate({ force: true }))
    return accountOf(counts)
  }

  /**
   * Does what only the coordinator may do. If the lease is gone, takes it again, and tries once more: Redis may have
   * lost it. Rejects with `run-locked` if another coordinator has it.
   *
   * @param refusal - what the script returns to others.
   */
  async function asHolder<R extends number | object, N extends R & number>(act: () => Promise<R>, refusal: N) {
    for (let again = false; ; again = true) {
      const answer = await answerOf(act())
      if (answer !== refusal) return answer as Exclude<R, N>
      const [taken] = again || isEnded ? [] : await askForLease(parts, { since: parts.since })
      if (taken !== 'taken')
        throw new HarnessError(
          'run-locked',
          'Another process coordinates this run now: this one gave no sign of life for too long. Sealed episodes are kept.',
        )
    }
  }

  /** The same promise, except that it rejects with `queue-unavailable` if the queue was closed. */
  async function answerOf<T>(promise: Promise<T>): Promise<T> {
    try {
      return await promise
    } catch (cause) {
      if (client.status !== 'end') throw cause
      throw new HarnessError('queue-unavailable', 'The queue was closed.', { cause })
    }
  }
}

export function accountOf(counts: readonly number[]): RunAccount {
  const [added = 0, sealed = 0, fenced = 0, lost = 0, withdrawn = 0, open = 0, unread = 0] = counts
  return { added, sealed, fenced, lost, withdrawn, open, unread }
}
