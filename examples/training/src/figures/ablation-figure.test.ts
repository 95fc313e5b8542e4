import { describe, expect, it } from 'vitest'
import { ABLATIONS, drawAblation } from './ablation-figure.ts'

describe('drawAblation', () => {
  it('leaves out what did not reach the target', async () => {
    const lines = ['uniform', 'adaptive'].flatMap((drawing) =>
      [100, 300, null].map((episodes) => ({ drawing, episodes, steps: 1_000 })),
    )
    const svg = await drawAblation(ABLATIONS.curricula, lines)
    expect(svg).toContain('>adaptive draws</text>')
    // A point for each of four results, in each of two panels.
    expect(svg.match(/aria-roledescription="point"/g)).toHaveLength(8)
  })
})
