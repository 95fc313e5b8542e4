import { expect, it, vi } from 'vitest'
import { configurationSchema } from '../run/plan/configuration.ts'
import { playSettingsSchema } from '../run/run-settings.ts'
import { machineClock } from '../waiting-clock.ts'
import { placeOf } from './fleet-messages.ts'
import { createMemoryQueue } from './memory/memory-queue.ts'
import { QueueModel } from './memory/queue-model.ts'
import { playFleet } from './play-fleet.ts'
import { createSigner } from './signer.ts'

const RUN = 'run'
/** Milliseconds. A worker measures the clock of the queue nine times in it. */
const LEASE = 90
const WORLD = { name: 'waiting', version: '1.0.0' }
const TASK = { id: 'one', environment: WORLD, tools: [], prompt: '', hints: [], params: {}, seed: '0' }
const JOB = {
  task: { ...TASK, difficulty: 0, limits: {}, split: 'train', tags: [], metadata: {} },
  attempt: 0,
  try: 0,
}
const ANNOUNCEMENT = {
  format: 1,
  name: RUN,
  episodic: '0.0.0',
  configuration: configurationSchema.parse({
    environment: WORLD,
    tasks: { from: 'generator', count: 1, difficulty: [0, 1], split: null },
    policy: { name: 'waiting', sha256: null },
    rollouts: 1,
    maxSteps: null,
    weights: {},
    shaping: false,
    discount: 1,
    seed: '0',
  }),
  settings: playSettingsSchema.parse({}),
  world: null,
}

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
  const announcement = signer.sign(placeOf.announcement(RUN), JSON.stringify(ANNOUNCEMENT))
  const entry = { id: RUN, announcement, digest: RUN, elapsed: 0 }
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
