import { connect, returnsOf, runEpisode } from '@episodic/env'
import { createHost, inProcess, rehearse } from '@episodic/mcp-server'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { environment, references, solver } from '../number-guessing.ts'
import { guessesNeeded } from './guesses-needed.ts'

describe('guessesNeeded', () => {
  it.each([
    [1, 1, 1],
    [1, 2, 2],
    [1, 3, 2],
    [1, 4, 3],
    [-3, 3, 3],
    [1, 100, 7],
    [1, 127, 7],
    [1, 128, 8],
    [0, 2 ** 40, 41],
  ])('from %i to %i is %i', (low, high, guesses) => {
    expect(guessesNeeded(low, high)).toBe(guesses)
  })
})

describe('solver', () => {
  it('finds every number within the bound', async () => {
    await using host = createHost({ environments: [environment] })
    await using connection = await connect(inProcess(host))
    const anyWorld = fc.record({
      low: fc.integer({ min: -1e6, max: 1e6 }),
      width: fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 1e6 })),
      seed: fc.string({ minLength: 1 }),
    })
    await fc.assert(
      fc.asyncProperty(anyWorld, async ({ low, width, seed }) => {
        const params = { low, high: low + width - 1, maxGuesses: guessesNeeded(low, low + width - 1) }
        const episode = await runEpisode({
          createEnvironment: () => connection.environment(),
          policy: solver,
          task: { params },
          seed,
        })
        expect(episode).toMatchObject({ kind: 'finished', end: { kind: 'terminated', reason: 'solved' } })
        expect(episode.steps.length).toBeLessThanOrEqual(params.maxGuesses)
      }),
    )
  })

  it('needs the whole bound for some number of every range', async () => {
    await using host = createHost({ environments: [environment] })
    await using connection = await connect(inProcess(host))
    for (let width = 1; width <= 16; width++) {
      const params = { low: 1, high: width, maxGuesses: 100 }
      const guesses = new Map<number, number>()
      for (let i = 0; guesses.size < width; i++) {
        const { state } = rehearse(environment, { params, seed: `${i}` })
        const { target } = state.private as { target: number }
        if (guesses.has(target)) continue
        const createEnvironment = () => connection.environment()
        const { steps } = await runEpisode({ createEnvironment, policy: solver, task: { params }, seed: `${i}` })
        guesses.set(target, steps.length)
      }
      expect(Math.max(...guesses.values())).toBe(guessesNeeded(1, width))
    }
  })

  it.each(references.map(({ id, params, value }) => [id, params, value] as const))(
    'earns over all numbers what is published: %s',
    async (_, params, value) => {
      const { high } = params as { high: number }
      await using host = createHost({ environments: [environment] })
      await using connection = await connect(inProcess(host))
      const returns = new Map<number, number>()
      for (let i = 0; returns.size < high; i++) {
        const { state } = rehearse(environment, { params, seed: `${i}` })
        const { target } = state.private as { target: number }
        if (returns.has(target)) continue
        const createEnvironment = () => connection.environment()
        const { steps } = await runEpisode({
          createEnvironment,
          policy: solver,
          task: { params: { low: 1, high, maxGuesses: 8 } },
          seed: `${i}`,
        })
        returns.set(target, returnsOf(steps, 1).total)
      }
      expect([...returns.values()].reduce((sum, one) => sum + one, 0) / high).toBeCloseTo(value as number, 9)
    },
  )
})
