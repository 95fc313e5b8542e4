import { type EnvironmentDefinition, rehearse } from '@episodic/mcp-server'
import { describe, expect, it } from 'vitest'
import { environment, references, solver } from '../frozen-lake.ts'
import type { MapName } from './maps.ts'

describe('solver', () => {
  it('reaches the goal of the slippery lake as often as is computed', async () => {
    const goals = await countGoals({ map: '4x4', slippery: true }, 2_000)
    expectRate(goals, 2_000, published('4x4-slippery/optimal'))
  })

  it.each(['4x4', '8x8'] as const)('always reaches the goal of the firm lake: %s', async (map) => {
    expect(await countGoals({ map, slippery: false }, 3)).toBe(3)
  })
})

/** Plays the rules alone, without a server, so that thousands of episodes take little time. */
async function countGoals(params: { map: MapName; slippery: boolean }, episodes: number) {
  const task = { prompt: environment.description, hints: [], params }
  let goals = 0
  for (let i = 0; i < episodes; i++) {
    const lake = rehearse<EnvironmentDefinition>(environment, { params, seed: `lake-${i}` })
    // Two seeds: a player that shared the lake's random stream would know where it slips.
    const player = await solver.start({ task, tools: environment.toolInfos, seed: `player-${i}` })
    while (lake.end === null) {
      const { tool, arguments: args } = await player(lake.observation, { last: null })
      lake.play(tool, args)
    }
    if (lake.end.reason === 'goal') goals += 1
  }
  return goals
}

/** Whether a count is within the 99 % confidence interval of a rate (normal approximation). */
function expectRate(goals: number, episodes: number, rate: number): void {
  const error = Math.sqrt((rate * (1 - rate)) / episodes)
  expect(goals / episodes).toBeGreaterThan(rate - 2.576 * error)
  expect(goals / episodes).toBeLessThan(rate + 2.576 * error)
}

function published(id: string): number {
  return references.find((reference) => reference.id === id)?.value as number
}
