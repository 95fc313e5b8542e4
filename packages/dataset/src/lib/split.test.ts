import type { Split } from '@episodic/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { generateTasks } from './generate-tasks.ts'
import { guessing, guessingTasks } from './guessing.fixture.ts'
import { splitOf } from './split.ts'
import { worldId } from './task-id.ts'

const anyRatios = fc
  .tuple(fc.nat(100), fc.nat(100), fc.integer({ min: 1, max: 100 }))
  .map(([train, validation, test]) => {
    const sum = train + validation + test
    return { train: train / sum, validation: validation / sum, test: test / sum }
  })

describe('splitOf', () => {
  it('never puts one world into two splits, whatever the file, prompt or version', () => {
    fc.assert(
      fc.property(anyRatios, fc.string(), (splits, prompt) => {
        const reworded = {
          ...guessing,
          environment: { ...guessing.environment, version: '2.0.0' },
          generate: (context: Parameters<typeof guessing.generate>[0]) => ({ ...guessing.generate(context), prompt }),
        }
        const split = new Map<string, Split>()
        for (const task of generateTasks(guessing, { seed: 's', count: 30, splits }))
          split.set(worldId(task), task.split)
        for (const task of generateTasks(reworded, { seed: 's', count: 30, splits }))
          expect(task.split).toBe(split.get(worldId(task)))
      }),
      { numRuns: 25 },
    )
  })

  it('meets the shares within statistical bounds', () => {
    const counts = { train: 0, validation: 0, test: 0 }
    for (const task of guessingTasks(4_000)) counts[task.split] += 1
    // Five standard deviations of a binomial count.
    const expectShare = (count: number, share: number) =>
      expect(Math.abs(count - 4_000 * share)).toBeLessThan(5 * Math.sqrt(4_000 * share * (1 - share)))
    expectShare(counts.train, 0.8)
    expectShare(counts.validation, 0.1)
    expectShare(counts.test, 0.1)
  })

  it.each<Split>(['train', 'validation', 'test'])('puts everything into %s when that is all there is', (only) => {
    const splits = { train: 0, validation: 0, test: 0, [only]: 1 }
    for (const task of guessingTasks(100)) expect(splitOf(task, splits)).toBe(only)
  })

  it('keeps a smaller test split inside the larger one', () => {
    for (const task of guessingTasks(500))
      if (splitOf(task, { train: 0.9, validation: 0.05, test: 0.05 }) === 'test') expect(splitOf(task)).toBe('test')
  })
})
