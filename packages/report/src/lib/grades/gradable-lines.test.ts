import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createFold } from '../fold/fold.ts'
import { playRun } from '../fold/simulated-run.fixture.ts'
import { createGradableLines, sealNameOf } from './gradable-lines.ts'

describe('createGradableLines', () => {
  it('lists the lines that a report counts, in the same order however they were added', () => {
    const runs = fc.record({ seed: fc.string({ minLength: 1, maxLength: 4 }), tries: fc.array(fc.nat(23)) })
    fc.assert(
      fc.property(runs, ({ seed, tries }) => {
        const records = playRun({ seed, tasks: 6, attempts: 4, failures: 0.3 })
        // Some are played again: as another try, which finished or failed.
        const again = tries.map((i) => ({ ...records[(i + 7) % 24]!, task: records[i]!.task, attempt: i % 4, try: 1 }))
        const all = [...records, ...again].map((record, i) => ({ ...record, seal: `${seed} ${i}` }))
        const lines = createGradableLines()
        const fold = createFold()
        for (const record of [...all, ...all]) {
          expect(lines.add(record)).toBe(sealNameOf(record))
          fold.add(record)
        }
        const counted = lines.list().filter(({ counts }) => counts)
        const summary = fold.finish({ name: seed })
        expect(counted.length).toBe(summary.counts.finished)
        expect(counted.filter(({ success }) => success).length).toBe(summary.success.overall.successes)
        const reversed = createGradableLines()
        for (const record of all.toReversed()) reversed.add(record)
        expect(reversed.list()).toEqual(lines.list())
      }),
      { numRuns: 30 },
    )
  })

  it('draws without looking at results: the first half has the rate of all, over many runs', () => {
    const rates = Array.from({ length: 40 }, (_, seed) => {
      const lines = createGradableLines()
      for (const record of playRun({ seed: `${seed}`, tasks: 20, attempts: 2, failures: 0 })) lines.add(record)
      const list = lines.list()
      const rateOf = (some: typeof list) => some.filter(({ success }) => success).length / some.length
      return rateOf(list.slice(0, 20)) - rateOf(list)
    })
    expect(Math.abs(rates.reduce((sum, rate) => sum + rate, 0) / rates.length)).toBeLessThan(0.05)
  })
})
