import { type Policy, randomPolicy } from '@episodic/env'
import { type EnvironmentDefinition, rehearse } from '@episodic/mcp-server'
import { describe, expect, it } from 'vitest'
import { environment, references, solver } from '../frozen-lake.ts'
import type { MapName } from './maps.ts'

describe('solver', () => {
  it.each([
    ['4x4', 2_000],
    ['8x8', 1_000],
  ] as const)('reaches the goal of the slippery lake as often as is computed: %s', async (map, episodes) => {
    const goals = await countGoals(solver, { map, slippery: true }, episodes)
    expectRate(goals, episodes, published(`${map}-slippery/optimal`))
  })

  it.each(['4x4', '8x8'] as const)('always reaches the goal of the firm lake: %s', async (map) => {
    expect(await countGoals(solver, { map, slippery: false }, 3)).toBe(3)
  })
})

describe('randomPolicy', () => {
  it('reaches the goal of the slippery lake as often as Gymnasium’s table predicts', async () => {
    const episodes = 3_000
    const goals = await countGoals(randomPolicy(), { map: '4x4', slippery: true }, episodes)
    expectRate(goals, episodes, published('4x4-slippery/uniform'))
  })
})

/** Plays the rules alone, without a server, so that thousands of episodes take little time. */
async function countGoals(policy: Policy, params: { map: MapName; slippery: boolean }, episodes: number) {
  const task = { prompt: environment.description, hints: [], params }
  let goals = 0
  for (let i = 0; i < episodes; i++) {
    const lake = rehearse<EnvironmentDefinition>(environment, { params, seed: `lake-${i}` })
    // Two seeds: a player that shared the lake's random stream would know where it slips.
    const player = await policy.start({ task, tools: environment.toolInfos, seed: `player-${i}` })
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
