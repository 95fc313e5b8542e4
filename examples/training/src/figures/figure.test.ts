import { describe, expect, it } from 'vitest'
import { drawCurves } from './figure.ts'

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
