import { describe, expect, it } from 'vitest'
import { drawRewardHacking } from '../figures/reward-hacking-figure.ts'
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

describe('drawRewardHacking', () => {
  it('draws a panel for each world, with what is earned and what is delivered', async () => {
    const points = (['exploitable', 'fixed'] as const).flatMap((world) =>
      ['1', '2'].flatMap((seed) =>
        [0, 10].map((episodes) => ({ world, seed, episodes, return: Number(seed), success: 0.5 })),
      ),
    )
    const svg = await drawRewardHacking(points)
    for (const text of ['The checkpoint pays each time', 'The checkpoint pays once', 'return', 'delivered'])
      expect(svg).toContain(text)
  })
})
