import { describeRunQueue, type QueueUnderTest } from '@episodic/fleet/describe-run-queue.fixture'
import type { RunQueue } from '@episodic/fleet/run-queue'
import { createMemoryQueue, type Link } from './memory-queue.ts'
import { QueueModel } from './queue-model.ts'
import { VirtualTime } from './virtual-time.ts'

const LEASE = 3_000
/** Virtual milliseconds between two looks at a condition. */
const STEP = 10

describeRunQueue('memory', async (): Promise<QueueUnderTest> => {
  const time = new VirtualTime()
  const clock = {
    now: () => time.now(),
    wait: (milliseconds: number, signal: AbortSignal) =>
      new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => resolve())
        time.after(milliseconds, resolve)
      }),
  }
  const model = () => new QueueModel(() => time.now(), LEASE)
  let current = model()
  const gates = new Map<RunQueue, { connected: Promise<void> }>()
  return {
    async open() {
      const gate = { connected: Promise.resolve() }
      const link: Link = {
        async send(call) {
          await gate.connected
          return call()
        },
        isCut: () => false,
      }
      const queue = createMemoryQueue({ model: current, link, clock, lease: LEASE })
      gates.set(queue, gate)
      return queue
    },
    until: (condition) =>
      time.run(
        (async () => {
          for (let waited = 0; !(await condition()); waited += STEP) {
            if (waited > 10 * LEASE) throw new Error('Waited ten leases in vain.')
            await new Promise<void>((resolve) => time.after(STEP, resolve))
          }
        })(),
      ),
    cut(queue) {
      const { promise, resolve } = Promise.withResolvers<void>()
      Object.assign(gates.get(queue) ?? {}, { connected: promise })
      return resolve
    },
    async clear() {
      current = model()
    },
  }
})
