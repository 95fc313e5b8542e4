import { connect, type Environment as PlayedEnvironment, randomPolicy } from '@episodic/env'
import { createHost, type EnvironmentDefinition, inProcess } from '@episodic/mcp-server'
import type { Action, Step } from '@episodic/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

/**
 * Registers the law of forks: a fork from any step continues as its parent did, shares no state with it and does not
 * affect it.
 */
export function describeForks(environment: EnvironmentDefinition): void {
  describe(`a fork of ${environment.name}`, () => {
    it('continues as its parent did, from any step and for every fork, and does not affect its parent', async () => {
      await using host = createHost({ environments: [environment] })
      await using connection = await connect(inProcess(host))
      await using parent = connection.environment()
      const anyPlay = [fc.string({ minLength: 1, maxLength: 9 }), fc.integer({ min: 1, max: 30 }), fc.nat(99)] as const
      await fc.assert(
        fc.asyncProperty(...anyPlay, async (seed, length, place) => {
          const played = await playAtRandom(parent, seed, length)
          const before = await parent.snapshot()
          const at = place % played.length
          for (const fork of await parent.fork({ at, count: 2 })) {
            for (const { action, step } of played.slice(at)) expect(await fork.step(action)).toEqual(step)
            expect(await fork.snapshot()).toEqual(before)
            await fork.close()
          }
          expect(await parent.snapshot()).toEqual(before)
        }),
        { numRuns: 20 },
      )
    })
  })
}

async function playAtRandom(world: PlayedEnvironment, seed: string, length: number) {
  const { observation, info } = await world.reset({ seed })
  const task = { prompt: '', hints: [], params: info.params }
  const player = await randomPolicy().start({ task, tools: world.info.tools, seed })
  const played: { action: Action; step: Step }[] = []
  while (played.length < length && !played.at(-1)?.step.end) {
    const last = played.at(-1)?.step ?? null
    const action = await player(last?.observation ?? observation, { last })
    played.push({ action, step: await world.step(action) })
  }
  return played
}
