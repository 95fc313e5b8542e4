import { expect, it, vi } from 'vitest'
import { machineClock } from '../waiting-clock.ts'
import { placeOf } from './fleet-messages.ts'
import { createMemoryQueue } from './memory/memory-queue.ts'
import { QueueModel } from './memory/queue-model.ts'
import { playFleet } from './play-fleet.ts'
import { createSigner } from './signer.ts'
import { announceSimulated, SIMULATED_TASK } from './simulation/simulated-run.ts'

const RUN = 'run'
/** Milliseconds. A worker measures the clock of the queue nine times in it. */
const LEASE = 90
const JOB = { task: SIMULATED_TASK, attempt: 0, try: 0 }

it('gives an episode times that do not go back, also if the clock of the queue does', async () => {
  let [jump, calls] = [0, 0]
  const model = new QueueModel(() => machineClock.now() + jump, LEASE)
  const send = async <T>(call: () => T | Promise<T>) => {
    calls += 1
    return call()
  }
  await using queue = createMemoryQueue({ model, link: { send, isCut: () => false }, lease: LEASE })
  const signer = createSigner(null)
  const { signal } = new AbortController()
  const entry = { id: RUN, announcement: announceSimulated(RUN, signer), digest: RUN, elapsed: 0 }
  const coordination = await queue.coordinate(entry, { host: 'here', pid: 1 }, signal)
  await coordination.add([{ id: 'job', payload: signer.sign(placeOf.job(RUN, 'job'), JSON.stringify(JOB)) }])

  const stopping = new AbortController()
  const times: number[] = []
  await playFleet({
    ...{ queue, signer, lease: LEASE, signal: stopping.signal, onNotice: () => {} },
    worker: { id: 'w', host: 'here', pid: 1, version: '0.0.0', slots: 1, worlds: [] },
    openRun: async () => ({
      async runTask(_, { now }) {
        times.push(now())
        jump = -10_000
        // The worker measures the clock again meanwhile.
        const before = calls
        await vi.waitFor(() => expect(calls).toBeGreaterThan(before + 2))
        times.push(now())
        stopping.abort()
        return []
      },
      [Symbol.asyncDispose]: async () => {},
    }),
  })
  const [started, ended] = times as [number, number]
  expect(ended).toBeGreaterThan(started)
})
