import { describe, expect, it } from 'vitest'
import { drawFaultCurves, FAULT_PLAYERS } from './fault-figure.ts'

describe('drawFaultCurves', () => {
  it('draws a curve for each player, and names them', async () => {
    const points = FAULT_PLAYERS.flatMap((player, at) =>
      [0, 64].map((episodes) => ({ player, episodes, return: (episodes * (at + 1)) / 200 })),
    )
    const svg = await drawFaultCurves(points)
    for (const player of FAULT_PLAYERS) expect(svg).toContain(`>${player}</text>`)
    expect(svg.match(/aria-roledescription="line mark"/g)).toHaveLength(3)
  })
})
