import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { guessingTasks } from './guessing.fixture.ts'
import { sampleTasks } from './sample-tasks.ts'

const tasks = guessingTasks(60)

describe('sampleTasks', () => {
  it('takes distinct rows in their order, at most as many as there are', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(80), fc.string(), async (count, seed) => {
        const sample = await sampleTasks(tasks, { count, seed })
        const positions = sample.map((task) => tasks.indexOf(task))
        expect(sample).toHaveLength(Math.min(count, tasks.length))
        expect(positions).toEqual([...new Set(positions)].sort((a, b) => a - b))
        expect(await sampleTasks(tasks, { count, seed })).toEqual(sample)
      }),
    )
  })

  it('takes every row equally often', async () => {
    const taken = new Map(tasks.map((task) => [task.id, 0]))
    for (let i = 0; i < 2_000; i++)
      for (const { id } of await sampleTasks(tasks, { count: 6, seed: `${i}` })) taken.set(id, (taken.get(id) ?? 0) + 1)
    // Each count is binomial(2000, 0.1): mean 200, standard deviation 13.4. Five of them, for 60 rows.
    for (const count of taken.values()) expect(Math.abs(count - 200)).toBeLessThan(67)
  })

  it('takes only rows that match every filter', async () => {
    const filter = { split: 'train', tags: ['short'], difficulty: [0.1, 0.3] } as const
    const matching = tasks.filter(
      (task) =>
        task.split === 'train' && task.tags.includes('short') && task.difficulty >= 0.1 && task.difficulty <= 0.3,
    )
    expect(matching.length).toBeGreaterThan(0)
    expect(await sampleTasks(tasks, { count: 100, seed: 's', ...filter })).toEqual(matching)
  })

  it('accepts an asynchronous iterable', async () => {
    async function* stream() {
      yield* tasks
    }
    expect(await sampleTasks(stream(), { count: 5, seed: 's' })).toEqual(
      await sampleTasks(tasks, { count: 5, seed: 's' }),
    )
  })

  it.each([{ count: -1 }, { count: 0.5 }, { count: 1, difficulty: [1, 0] as const }])('refuses %j', async (options) => {
    await expect(sampleTasks(tasks, { seed: 's', ...options })).rejects.toMatchObject({ code: 'options-invalid' })
  })
})
