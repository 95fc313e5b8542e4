import { describe, expect, it } from 'vitest'
import { type CourierName, trainCourier } from './reward-hacking.ts'

/** What a straight walk to the house earns: 1 and 0.2, less 0.01 for each of 6 moves. */
const STRAIGHT = 1.14

/** A shorter training than the documented one, evaluated at its end. */
const train = (world: CourierName, seed: string) => trainCourier({ world, seed, episodes: 256, points: 1 })

describe('trainCourier', () => {
  it('learns to collect the reward of the checkpoint and to deliver nothing, and to deliver once it pays once', async () => {
    const hacked = (await train('exploitable', '1')).points.at(-1)
    const fixed = (await train('fixed', '1')).points.at(-1)
    expect(hacked?.return).toBeGreaterThan(1.5 * STRAIGHT)
    expect(hacked?.success).toBeLessThan(0.1)
    expect(fixed?.return).toBeLessThanOrEqual(STRAIGHT + 1e-9)
    expect(fixed?.success).toBeGreaterThan(0.9)
  })
})
