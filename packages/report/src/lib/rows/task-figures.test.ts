import fc from 'fast-check'
import { mean, sampleStandardDeviation } from 'simple-statistics'
import { describe, expect, it } from 'vitest'
import { isSuccess } from '../fold/scored-outcome.ts'
import { playRun } from '../fold/simulated-run.fixture.ts'
import { createRowTable } from './row-table.ts'
import { taskFigures } from './task-figures.ts'

function figuresOf(records: ReturnType<typeof playRun>) {
  const table = createRowTable()
  for (const record of records) table.add(record)
  return { figures: taskFigures(table.columns()), tasks: table.tasks }
}

const anyRun = fc
  .record({
    tasks: fc.integer({ min: 1, max: 9 }),
    attempts: fc.integer({ min: 1, max: 5 }),
    failures: fc.constantFrom(0, 0.3, 1),
  })
  .map(playRun)

describe('taskFigures', () => {
  it('has the figures of the attempts of each task', () => {
    fc.assert(
      fc.property(anyRun, (records) => {
        const { figures, tasks } = figuresOf(records)
        for (const figure of figures) {
          const own = records.filter(({ task }) => task.id === tasks[figure.task])
          const finished = own.filter(({ outcome }) => outcome.kind === 'finished')
          const returns = finished.map((record) => record.returns?.unshaped ?? Number.NaN)
          expect(figure).toMatchObject({
            finished: finished.length,
            failed: own.length - finished.length,
            successes: finished.filter(isSuccess).length,
          })
          if (returns.length > 0) expect(figure.mean).toBeCloseTo(mean(returns))
          else expect(figure.mean).toBeNull()
          if (returns.length > 1) expect(figure.deviation).toBeCloseTo(sampleStandardDeviation(returns))
          else expect(figure.deviation).toBeNull()
        }
        expect(figures.reduce((sum, { rows }) => sum + rows.length, 0)).toBe(records.length)
      }),
      { numRuns: 40 },
    )
  })
})
