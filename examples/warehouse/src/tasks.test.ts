import { checkTasks, generateTasks } from '@episodic/dataset'
import { connect, runEpisode } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import { describe, expect, it } from 'vitest'
import { environment, solver, tasks } from './index.ts'

const rows = (difficulty: readonly [number, number], count: number) => [
  ...generateTasks(tasks, { seed: 'test', count, difficulty }),
]

describe('tasks', () => {
  it('pass all checks', async () => {
    const problems = []
    for await (const problem of checkTasks(rows([0, 1], 200), { environments: [environment] })) problems.push(problem)
    expect(problems).toEqual([])
  })

  it('get larger floors, more orders, smaller carts and shorter charges as they get harder', () => {
    expect(rows([0, 0], 1)[0]?.params).toMatchObject({ size: 3, articles: 2, orders: 2, capacity: 8, battery: 30 })
    expect(rows([1, 1], 1)[0]?.params).toMatchObject({ size: 8, articles: 7, orders: 8, capacity: 4, battery: 30 })
  })

  it('can all be solved', async () => {
    await using host = createHost({ environments: [environment] })
    await using connection = await connect(inProcess(host))
    for (const task of rows([0, 1], 50)) {
      const episode = await runEpisode({ createEnvironment: () => connection.environment(), policy: solver, task })
      expect(episode).toMatchObject({ kind: 'finished', end: { reason: 'all-delivered' } })
    }
  })
})
