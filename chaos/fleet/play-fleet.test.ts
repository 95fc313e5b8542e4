import { machineClock } from '@episodic/runs/base/waiting-clock'
import { expect, it, vi } from 'vitest'
import { signedPlaces } from '../../apps/harness/src/lib/fleet/fleet-messages.ts'
import { playFleet } from '../../apps/harness/src/lib/fleet/play-fleet.ts'
import { createSigner } from '../../apps/harness/src/lib/fleet/signer.ts'
import { createMemoryQueue } from './memory-queue.ts'
import { QueueModel } from './queue-model.ts'
import { announceSimulated, lifeOf, SIMULATED_TASK } from './simulated-run.ts'

const RUN = 'run'
/** Milliseconds. A worker measures the clock of the queue nine times in it. */
const LEASE = 90
const WORKER = { id: 'w', host: 'here', pid: 1, version: '0.0.0', slots: 2, worlds: [] }
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
  await coordination.renew(lifeOf(RUN, signer))
  await coordination.add([{ id: 'job', payload: signer.sign(signedPlaces.job(RUN, 'job'), JSON.stringify(JOB)) }])

  const stopping = new AbortController()
  const times: number[] = []
  await playFleet({
    ...{ queue, signer, lease: LEASE, signal: stopping.signal, onNotice: () => {} },
    worker: WORKER,
    openRun: async () => ({
      async runTask(_, { now }) {
        times.push(now())
        jump = -10_000
        // The worker measures the clock again meanwhile.
        const before = calls
        await vi.waitFor(() => expect(calls).toBeGreaterThan(before + 2), { timeout: 60_000 })
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

it('begins no other episode while one is played that two workers ended with', async () => {
  let time = 0
  const model = new QueueModel(() => time, LEASE)
  await using queue = createMemoryQueue({ model, lease: LEASE })
  const signer = createSigner(null)
  const entry = { id: RUN, announcement: announceSimulated(RUN, signer), digest: RUN, elapsed: 0 }
  const coordination = await queue.coordinate(entry, { host: 'here', pid: 1 }, new AbortController().signal)
  const jobs = ['one', 'other']
  await coordination.add(
    jobs.map((id) => ({ id, payload: signer.sign(signedPlaces.job(RUN, id), JSON.stringify({ ...JOB, attempt: 0 })) })),
  )
  for (const id of ['first', 'second']) {
    model.renewWorker({ ...WORKER, id, plays: [], declines: {} })
    for (const job of jobs) expect(model.begin(RUN, job, `${id}:0`)).not.toBeNull()
    time += LEASE
    await coordination.renew(lifeOf(RUN, signer))
  }

  const stopping = new AbortController()
  const playing: (number | undefined)[] = []
  await playFleet({
    ...{ queue, signer, lease: LEASE, signal: stopping.signal, onNotice: () => {}, worker: WORKER },
    openRun: async () => ({
      async runTask() {
        playing.push((await queue.status()).runs[0]?.playing)
        if (playing.length === jobs.length) stopping.abort()
        throw new Error('It is over.')
      },
      [Symbol.asyncDispose]: async () => {},
    }),
  })
  expect(playing).toEqual([1, 1])
})

it.each(['a secret', null])(
  'plays no run with what its coordinator signed before it ended (secret: %j)',
  async (secret) => {
    let time = 0
    const model = new QueueModel(() => time, LEASE)
    await using queue = createMemoryQueue({ model, lease: LEASE })
    const signer = createSigner(secret)
    const entry = { id: RUN, announcement: announceSimulated(RUN, signer), digest: RUN, elapsed: 0 }
    const job = { id: 'job', payload: signer.sign(signedPlaces.job(RUN, 'job'), JSON.stringify(JOB)) }
    const owner = { host: 'here', pid: 1 }
    const coordination = await queue.coordinate(entry, owner, new AbortController().signal)
    let copied = ''
    await coordination.renew((until) => {
      copied = lifeOf(RUN, signer)(until)
      return copied
    })
    await coordination.end(true)

    // Who can write to the queue puts all of it back, and keeps the lease.
    time += LEASE
    const replayed = await queue.coordinate(entry, owner, new AbortController().signal)
    await replayed.add([job])
    await replayed.renew(() => copied)

    const stopping = new AbortController()
    const notices: string[] = []
    let plays = 0
    await playFleet({
      ...{ queue, signer, lease: LEASE, signal: stopping.signal, worker: WORKER },
      onNotice(notice) {
        notices.push(notice)
        stopping.abort()
      },
      openRun: async () => ({
        async runTask() {
          plays += 1
          return []
        },
        [Symbol.asyncDispose]: async () => {},
      }),
    })
    expect(notices).toEqual([expect.stringContaining('somebody has put it back into the queue after its end')])
    expect(plays).toBe(0)
  },
)

it('plays a run no longer when what its coordinator has signed holds no longer', async () => {
  let time = 0
  const model = new QueueModel(() => time, LEASE)
  await using queue = createMemoryQueue({ model, lease: LEASE })
  const signer = createSigner('a secret')
  const entry = { id: RUN, announcement: announceSimulated(RUN, signer), digest: RUN, elapsed: 0 }
  const coordination = await queue.coordinate(entry, { host: 'here', pid: 1 }, new AbortController().signal)
  const last = lifeOf(RUN, signer)(LEASE)
  await coordination.renew(() => last)

  const stopping = new AbortController()
  const notices: string[] = []
  await playFleet({
    ...{ queue, signer, lease: LEASE, signal: stopping.signal, worker: WORKER },
    onNotice(notice) {
      notices.push(notice)
      if (notice.endsWith('is over.')) stopping.abort()
      if (notices.length > 1) return
      time = LEASE
      void coordination.renew(() => last)
    },
    openRun: async () => ({ runTask: async () => [], [Symbol.asyncDispose]: async () => {} }),
  })
  expect(notices[0]).toMatch(/^Plays run /)
  expect(notices).toContainEqual(expect.stringMatching(/^run .* is over\.$/))
})
