import { describe, expect, it } from 'vitest'
import { drawCurves, estimateOf } from './figure.ts'

describe('estimateOf', () => {
  it('gives the mean, and the interval by Student’s t', () => {
    const { mean, low, high } = estimateOf([1, 2, 3, 4, 5])
    expect(mean).toBe(3)
    expect(high - 3).toBeCloseTo(1.963, 3)
    expect(3 - low).toBeCloseTo(1.963, 3)
  })

  it('refuses one seed, which has no interval', () => {
    expect(() => estimateOf([1])).toThrow('An interval needs from 2 to 10 seeds; there are 1.')
  })
})

describe('drawCurves', () => {
  it('draws a panel for each world that has points', async () => {
    const points = ['1', '2'].flatMap((seed) =>
      [0, 64].map((episodes) => ({
        world: 'frozen-lake' as const,
        algorithm: 'ppo' as const,
        seed,
        episodes,
        return: episodes / 100 + Number(seed) / 10,
        success: null,
      })),
    )
    const svg = await drawCurves(points, { 'frozen-lake': { random: 0, solver: 0.7, optimum: 0.7 } })
    expect(svg).toMatch(/^<svg /)
    expect(svg).toContain('FrozenLake 4×4, slippery')
    expect(svg).not.toContain('Kuhn poker')
  })
})
