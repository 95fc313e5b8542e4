import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { drawOf } from '../fold/episode-identity.ts'
import { playRun } from '../fold/simulated-run.fixture.ts'
import { findHighlights } from './highlights.ts'
import { sampleRows } from './row-sample.ts'
import { createRowTable } from './row-table.ts'

type Records = ReturnType<typeof playRun>

function columnsOf(records: Records) {
  const table = createRowTable()
  for (const record of records) table.add(record)
  return table.columns()
}

const anyRun = fc
  .record({
    tasks: fc.integer({ min: 1, max: 12 }),
    attempts: fc.integer({ min: 1, max: 4 }),
    failures: fc.constantFrom(0, 0.3, 1),
  })
  .map(playRun)

describe('findHighlights', () => {
  it('counts what a reader would count in the lines', () => {
    fc.assert(
      fc.property(anyRun, (records) => {
        const found = new Map(findHighlights(columnsOf(records)).map((item) => [item.reason, item]))
        const finished = records.filter(({ outcome }) => outcome.kind === 'finished')
        const refused = finished.filter(
          ({ steps }) => steps.filter((step) => step.refused !== null).length > steps.length / 2,
        )
        const same = [...Map.groupBy(finished, ({ task }) => task.id).values()].filter(
          (group) => group.length > 1 && new Set(group.map(({ returns }) => returns?.unshaped)).size === 1,
        )
        expect(found.get('failed')?.count ?? 0).toBe(records.length - finished.length)
        expect(found.get('refused')?.count ?? 0).toBe(refused.length)
        expect(found.get('no-variance')?.count ?? 0).toBe(same.length)
        for (const { rows, count } of found.values()) expect(rows.length).toBe(Math.min(count, 40))
      }),
      { numRuns: 40 },
    )
  })

  it('names the longest first, and nothing if all are as long', () => {
    const records = playRun({ tasks: 10, attempts: 2, failures: 0 })
    const { columns } = columnsOf(records)
    const longest = findHighlights(columnsOf(records)).find(({ reason }) => reason === 'longest')
    const most = Math.max(...records.map(({ steps }) => steps.length))
    expect(columns.steps?.[longest?.rows[0] ?? 0]).toBe(most)
    const [record] = records as [Records[number]]
    const alike = [record, { ...record, attempt: 7 }]
    expect(findHighlights(columnsOf(alike)).map(({ reason }) => reason)).not.toContain('longest')
  })

  it('throws without its columns', () => {
    const table = createRowTable()
    expect(() => findHighlights(table.columns(['counts']))).toThrow(RangeError)
  })
})

describe('sampleRows', () => {
  it('has every row once, with drawn, best, worst and failed ones before the others', () => {
    fc.assert(
      fc.property(anyRun, (records) => {
        const columns = columnsOf(records)
        const order = sampleRows(columns, records.map(drawOf))
        expect(order.toSorted((a, b) => a - b)).toEqual(records.map((_, row) => row))
      }),
      { numRuns: 20 },
    )
    const records = playRun({ tasks: 200, attempts: 2, failures: 0.05 })
    const columns = columnsOf(records)
    const draws = records.map(drawOf)
    const first = new Set(sampleRows(columns, draws).slice(0, 180))
    const best = records.reduce((a, b) => ((a.returns?.unshaped ?? -9) >= (b.returns?.unshaped ?? -9) ? a : b))
    const highest = records
      .map((_, row) => row)
      .filter((row) => records[row]?.returns?.unshaped === best.returns?.unshaped)
    expect(highest.some((row) => first.has(row))).toBe(true)
    const lowestDraw = draws.indexOf(Math.min(...draws))
    expect(first.has(lowestDraw)).toBe(true)
    const failed = records.flatMap(({ outcome }, row) => (outcome.kind === 'failed' ? [row] : []))
    expect(failed.every((row) => first.has(row))).toBe(true)
  })
})
