import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { QueueModel } from './queue-model.ts'
import { simulateFleet } from './simulate-fleet.ts'

const SECOND = 1_000

const anyFleet = fc.record({
  seed: fc.string({ minLength: 1 }),
  episodes: fc.integer({ min: 10, max: 150 }),
  workers: fc.integer({ min: 1, max: 6 }),
  slots: fc.integer({ min: 1, max: 4 }),
  duration: fc.integer({ min: 10, max: 10 * SECOND }),
  lease: fc.integer({ min: 2 * SECOND, max: 30 * SECOND }),
  losses: fc.constantFrom(0, 0.001, 0.05),
  faultsEvery: fc.record({
    worker: fc.integer({ min: 30 * SECOND, max: 600 * SECOND }),
    coordinator: fc.integer({ min: 30 * SECOND, max: 600 * SECOND }),
    queue: fc.integer({ min: 30 * SECOND, max: 600 * SECOND }),
  }),
})

const FLEET = {
  ...{ seed: '1', episodes: 300, workers: 3, slots: 4, duration: 5 * SECOND, lease: 10 * SECOND, losses: 0.01 },
  faultsEvery: { worker: 60 * SECOND, coordinator: 40 * SECOND, queue: 60 * SECOND },
}

describe('a fleet in simulation', () => {
  it('stores every episode once, whatever is killed, frozen, cut off, or loses its last second', async () => {
    await fc.assert(
      fc.asyncProperty(anyFleet, async (fleet) => {
        expect(await simulateFleet(fleet)).toMatchObject({ lost: 0, doubled: 0 })
      }),
      { numRuns: 30 },
    )
  })

  it('meets every kind of fault, plays some episodes more than once, and is the same for the same seed', async () => {
    const [found, again] = [await simulateFleet(FLEET), await simulateFleet(FLEET)]
    for (const count of Object.values(found.faults)) expect(count).toBeGreaterThan(0)
    expect(found.plays).toBeGreaterThan(FLEET.episodes)
    expect(again).toEqual(found)
    expect(await simulateFleet({ ...FLEET, seed: '2' })).not.toEqual(found)
  })

  it('reads every result, also those that a killed coordinator had stored and not acknowledged', async () => {
    const faultsEvery = { ...FLEET.faultsEvery, coordinator: 5 * SECOND, queue: Number.POSITIVE_INFINITY }
    const { faults, account } = await simulateFleet({ ...FLEET, episodes: 1_000, duration: SECOND, faultsEvery })
    expect(faults['coordinators killed']).toBeGreaterThan(3)
    expect(account).toMatchObject({ open: 0, unread: 0 })
  })

  it('notices a queue that loses a result', async () => {
    class Forgetful extends QueueModel {
      #forgotten: string | null = null
      override seal(...[run, job, sealing]: Parameters<QueueModel['seal']>): boolean {
        this.#forgotten ??= job
        return super.seal(run, job, sealing)
      }
      override read(...asked: Parameters<QueueModel['read']>): ReturnType<QueueModel['read']> {
        const found = super.read(...asked)
        const rest = (results: Awaited<typeof found>) => results.filter(({ job }) => job !== this.#forgotten)
        return found instanceof Promise ? found.then(rest) : rest(found)
      }
    }
    const createQueue = (now: () => number, lease: number) => new Forgetful(now, lease)
    await expect(simulateFleet({ ...FLEET, duration: 100, lease: SECOND, createQueue })).rejects.toThrow(
      'episodes are missing',
    )
  })
})
