import { checkTasks, generateTasks } from '@episodic/dataset'
import { describe, expect, it } from 'vitest'
import { environment, tasks } from '../frozen-lake.ts'

const rows = (difficulty: readonly [number, number], count: number) => [
  ...generateTasks(tasks, { seed: 'test', count, difficulty }),
]

describe('tasks', () => {
  it('pass all checks', async () => {
    const problems = []
    for await (const problem of checkTasks(rows([0, 1], 50), { environments: [environment] })) problems.push(problem)
    expect(problems).toEqual([])
  })

  it.each([
    [0.1, { map: '4x4', slippery: false }],
    [0.3, { map: '8x8', slippery: false }],
    [0.6, { map: '4x4', slippery: true }],
    [1, { map: '8x8', slippery: true }],
  ])('at difficulty %f are for %j', (difficulty, params) => {
    expect(rows([difficulty, difficulty], 1)[0]?.params).toEqual(params)
  })

  it('include one task for each firm lake, which has no randomness', () => {
    expect(rows([0, 0.49], 2).map(({ params }) => params.map)).toEqual(expect.arrayContaining(['4x4', '8x8']))
    expect(() => rows([0, 0.49], 3)).toThrow(expect.objectContaining({ code: 'exhausted' }))
    expect(rows([0.5, 1], 100)).toHaveLength(100)
  })
})
