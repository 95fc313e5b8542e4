import { connect, type Policy, randomPolicy, returnsOf, runEpisode } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { environment, solver } from './index.ts'
import { anyParams } from './play.fixture.ts'

describe('solver', () => {
  it('delivers everything in every warehouse, and is never refused', async () => {
    await using host = createHost({ environments: [environment] })
    await using connection = await connect(inProcess(host))
    await fc.assert(
      fc.asyncProperty(anyParams, fc.string({ minLength: 1 }), async (params, seed) => {
        const createEnvironment = () => connection.environment()
        const episode = await runEpisode({ createEnvironment, policy: solver, task: { params }, seed })
        expect(episode).toMatchObject({ kind: 'finished', end: { kind: 'terminated', reason: 'all-delivered' } })
        expect(episode.steps.filter(({ info }) => info.refused)).toEqual([])
        expect(episode.steps.reduce((sum, { reward }) => sum + (reward.terms.waste ?? 0), 0)).toBeCloseTo(0, 12)
      }),
    )
  })

  it('earns significantly more than random play', async () => {
    const [solved, random] = await Promise.all([meanReturn(solver), meanReturn(randomPolicy())])
    expect(solved).toBeGreaterThan(0.9)
    expect(random).toBeLessThan(0.2)
  })
})

async function meanReturn(policy: Policy, episodes = 40): Promise<number> {
  await using host = createHost({ environments: [environment] })
  await using connection = await connect(inProcess(host))
  let sum = 0
  for (let i = 0; i < episodes; i++) {
    const createEnvironment = () => connection.environment()
    const episode = await runEpisode({ createEnvironment, policy, seed: `floor-${i}`, policySeed: `player-${i}` })
    if (episode.kind !== 'finished') throw episode.cause
    sum += returnsOf(episode.steps, 1).total
  }
  return sum / episodes
}
