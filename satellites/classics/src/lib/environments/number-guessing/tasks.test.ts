import { checkTasks, defineTasks, generateTasks } from '@episodic/dataset'
import { connect, runEpisode } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import { describe, expect, it } from 'vitest'
import { environment, solver, tasks } from '../number-guessing.ts'
import { guessesNeeded } from './guesses-needed.ts'

const rows = (difficulty: readonly [number, number], count = 50) => [
  ...generateTasks(tasks, { seed: 'test', count, difficulty }),
]

describe('tasks', () => {
  it('pass all checks', async () => {
    const problems = []
    for await (const problem of checkTasks(rows([0, 1]), { environments: [environment] })) problems.push(problem)
    expect(problems).toEqual([])
  })

  it('get wider ranges and fewer spare guesses as they get harder', () => {
    const spare = ({ params }: { params: { low: number; high: number; maxGuesses: number } }) =>
      params.maxGuesses - guessesNeeded(params.low, params.high)
    const measure = (difficulty: number) =>
      rows([difficulty, difficulty], 1).map(({ params }) => {
        const world = params as { low: number; high: number; maxGuesses: number }
        return { width: world.high - world.low + 1, spare: spare({ params: world }) }
      })[0]
    expect(measure(0)).toEqual({ width: 10, spare: 4 })
    expect(measure(0.5)).toEqual({ width: 258, spare: 2 })
    expect(measure(1)).toEqual({ width: 1_000, spare: 0 })
  })

  it('can all be solved', async () => {
    await using host = createHost({ environments: [environment] })
    await using connection = await connect(inProcess(host))
    for (const task of rows([0, 1])) {
      const episode = await runEpisode({ createEnvironment: () => connection.environment(), policy: solver, task })
      expect(episode).toMatchObject({ kind: 'finished', end: { reason: 'solved' } })
    }
  })

  it('has no parameters that the schema does not know', () => {
    // @ts-expect-error: It is called `high`.
    defineTasks({ name: 'x', environment, generate: () => ({ prompt: 'Go.', params: { hihg: 3 }, difficulty: 0 }) })
    const beside = { name: 'x', environment }
    // @ts-expect-error: It is called `low`, though `high` is right.
    defineTasks({ ...beside, generate: () => ({ prompt: 'Go.', params: { high: 9, lwo: 3 }, difficulty: 0 }) })
    defineTasks({ ...beside, generate: () => ({ prompt: 'Go.', params: { high: 9, low: 3 }, difficulty: 0 }) })
    // @ts-expect-error: It is a number.
    defineTasks({ name: 'x', environment, generate: () => ({ prompt: 'Go.', params: { high: '3' }, difficulty: 0 }) })
  })
})
