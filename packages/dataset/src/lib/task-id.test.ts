import type { Task } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { guessingTasks } from './guessing.fixture.ts'
import { taskId } from './task-id.ts'

const task = { ...guessingTasks(1)[0]!, tools: ['guess', 'hint'] }

describe('taskId', () => {
  it('is the id of a generated row', () => {
    const [row] = guessingTasks(1)
    expect(taskId(row!)).toBe(row!.id)
  })

  it.each<Partial<Task>>([
    { environment: { name: 'other', version: '1.0.0' } },
    { environment: { name: 'number-guessing', version: '1.0.1' } },
    { params: { high: 3 } },
    { seed: 'other' },
    { limits: { steps: 21 } },
    { tools: ['guess'] },
    { prompt: 'Other.' },
  ])('changes with each part that is played: %j', (change) => {
    expect(taskId({ ...task, ...change })).not.toBe(taskId(task))
  })

  it.each<Partial<Task>>([
    { difficulty: 1 },
    { hints: ['Halve.'] },
    { tags: [] },
    { split: 'test' },
    { metadata: { author: 'me' } },
    { server: 'elsewhere' },
    { tools: ['hint', 'guess'] },
    { limits: { steps: 20, seconds: undefined } },
  ])('ignores parts that only describe the task: %j', (change) => {
    expect(taskId({ ...task, ...change })).toBe(taskId(task))
  })

  it('does not depend on the order of keys', () => {
    const params = Object.fromEntries(Object.entries(task.params).reverse())
    expect(taskId({ ...task, params })).toBe(taskId(task))
  })

  it('stays as in earlier releases', () => {
    const content = {
      environment: { name: 'world', version: '1.0.0' },
      params: { size: 3 },
      seed: 'seed',
      limits: {},
      tools: ['look'],
      prompt: 'Look.',
    }
    expect(taskId(content)).toBe('97aec5dc2a55eb97b9708d188bfb65da')
  })
})
