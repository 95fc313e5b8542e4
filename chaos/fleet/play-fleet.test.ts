import { signedPlaces } from '@episodic/fleet/fleet-messages'
import { playFleet } from '@episodic/fleet/play-fleet'
import { createSigner } from '@episodic/fleet/signer'
import { expect, it } from 'vitest'
import { createMemoryQueue } from './memory-queue.ts'
import { QueueModel } from './queue-model.ts'
import { announceSimulated, lifeOf, SIMULATED_TASK } from './simulated-run.ts'

const RUN = 'run'
/** Milliseconds. A worker measures the clock of the queue nine times in it. */
const LEASE = 90
const WORKER = { id: 'w', host: 'here', pid: 1, version: '0.0.0', slots: 2, worlds: [] }
const JOB = { task: SIMULATED_TASK, attempt: 0, try: 0 }

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
