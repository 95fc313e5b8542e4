import type { Task } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { guessingTasks } from './guessing.fixture.ts'
import { summarizeTasks } from './summarize-tasks.ts'

const [task] = guessingTasks(1) as [Task]

describe('summarizeTasks', () => {
  it('counts the rows by each property', async () => {
    const rows: Task[] = [
      { ...task, split: 'train', difficulty: 0, tags: ['b', 'a'], tools: ['look'], limits: { steps: 5 } },
      { ...task, split: 'test', difficulty: 1, tags: ['a'], tools: ['look', 'go'], limits: { steps: 9, seconds: 2 } },
      { ...task, split: 'test', difficulty: 0.5, tags: [], environment: { name: 'maze', version: '2' }, limits: {} },
    ]
    expect(await summarizeTasks(rows)).toEqual({
      count: 3,
      splits: { train: 1, validation: 0, test: 2 },
      environments: { counts: { 'maze@2': 1, 'number-guessing@1.0.0': 2 }, other: 0 },
      tools: { counts: { go: 1, guess: 1, look: 2 }, other: 0 },
      tags: { counts: { a: 2, b: 1 }, other: 0 },
      difficulty: { histogram: [1, 0, 0, 0, 0, 1, 0, 0, 0, 1], min: 0, mean: 0.5, max: 1 },
      limits: {
        steps: { named: 2, min: 5, max: 9 },
        seconds: { named: 1, min: 2, max: 2 },
        bytes: { named: 0, min: null, max: null },
      },
    })
  })

  it('returns an empty summary for no rows', async () => {
    const { count, difficulty } = await summarizeTasks([])
    expect(count).toBe(0)
    expect(difficulty).toEqual({ histogram: new Array(10).fill(0), min: null, mean: null, max: null })
  })

  it('counts a bounded number of names, and the rest as other', async () => {
    const rows = ['a', 'b', 'c', 'a', 'd', '__proto__'].map((tag) => ({ ...task, tags: [tag] }))
    expect((await summarizeTasks(rows, { names: 2 })).tags).toEqual({ counts: { a: 2, b: 1 }, other: 3 })
  })

  it('counts names such as `__proto__`', async () => {
    const { tags } = await summarizeTasks([{ ...task, tags: ['__proto__', 'constructor'] }])
    expect(Object.entries(tags.counts)).toEqual([
      ['__proto__', 1],
      ['constructor', 1],
    ])
  })
})
