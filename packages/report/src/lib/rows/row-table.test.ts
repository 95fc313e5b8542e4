import type { EpisodeRecord } from '@episodic/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createFold } from '../fold/fold.ts'
import { playRun } from '../fold/simulated-run.fixture.ts'
import { rowOf } from './row.ts'
import { createRowBatch, unpackRows } from './row-batch.ts'
import { rowFigures } from './row-figures.ts'
import { contentOf, createRowTable } from './row-table.ts'

const run = playRun({ tasks: 9, attempts: 4, failures: 0.2 })
const playedAgain = (record: EpisodeRecord, number: number): EpisodeRecord => ({ ...record, try: number })
const failed = (record: EpisodeRecord): EpisodeRecord => ({
  ...record,
  outcome: { kind: 'failed', error: { code: 'time-out', message: 'No answer.' } },
  returns: null,
})

/**
 * Lines of a run: played up to three times, some of them again and with other content, in any order, the last one torn.
 */
const anyLines = fc
  .array(
    fc.record({
      line: fc.constantFrom(...run),
      try: fc.nat(2),
      fails: fc.boolean(),
      ended: fc.nat(2),
      times: fc.integer({ min: 1, max: 2 }),
    }),
    { minLength: 1, maxLength: 40 },
  )
  .map((plays) =>
    plays.flatMap(({ line, try: number, fails, ended, times }) => {
      const played = playedAgain(fails ? failed(line) : line, number)
      return new Array<EpisodeRecord>(times).fill({ ...played, time: { ...played.time, ended: 1_000 + ended } })
    }),
  )

function figuresOf(lines: readonly EpisodeRecord[]) {
  const table = createRowTable()
  for (const line of lines) table.add(line)
  return { table, figures: rowFigures(table.columns()) }
}

describe('createRowTable', () => {
  it('counts the lines that a report counts, in any order, with repeated, retried and conflicting ones', () => {
    fc.assert(
      fc.property(anyLines, fc.infiniteStream(fc.nat()), (lines, ranks) => {
        const ranked = lines.map((line) => [ranks.next().value as number, line] as const)
        const shuffled = ranked.sort(([a], [b]) => a - b).map(([, line]) => line)
        const fold = createFold()
        for (const line of shuffled) fold.add(line)
        const summary = fold.finish({ name: 'test' })
        const { table, figures } = figuresOf(shuffled)
        const { counts, try: tries, attempt, task } = table.columns().columns
        const { finished, failed, tasks, steps, refused, conflicts } = summary.counts
        expect(figures).toEqual({
          tasks,
          finished,
          failed,
          steps,
          refused,
          success: summary.success.overall,
          unshaped: summary.returns.unshaped?.mean ?? null,
          tokens: null,
          cost: null,
        })
        expect(table.size).toBe(shuffled.length - fold.repeated)
        const plays = new Set(Array.from(task!, (one, row) => `${one} ${attempt![row]} ${tries![row]}`))
        // Lines beyond the first of a play conflict with it, if they are of the episodes that the summary has.
        expect(table.size - plays.size).toBe(conflicts)
        expect(Array.from(counts!).filter((one) => one === 1).length).toBe(finished + failed)
      }),
      { numRuns: 200 },
    )
  })

  it('asks for the content of two lines of one play only if their hashes differ', () => {
    const [line] = run as [EpisodeRecord]
    const other = { ...line, time: { ...line.time, ended: 5 } }
    // Equal lines in different bytes, and one that differs.
    const lines = [line, line, other]
    const asked: number[] = []
    const table = createRowTable({
      contentAt: (row) => {
        asked.push(row)
        return contentOf(lines[table.place(row).offset] as EpisodeRecord)
      },
    })
    const source = createRowTable()
    source.add(line)
    const addAs = (offset: number, content: number) => table.addRow(source.row(0), { offset, length: 1, content })
    expect(addAs(0, 10)).toBe(0)
    expect(addAs(0, 10)).toBeNull()
    expect(asked).toEqual([])
    expect(addAs(1, 11)).toBeNull()
    expect(addAs(2, 12)).toBe(1)
    const lower = contentOf(line) < contentOf(other) ? 0 : 1
    expect([...table.columns(['counts']).columns.counts!]).toEqual([0, 1].map((row) => Number(row === lower)))
  })

  it('returns rows as they were added', () => {
    const { table } = figuresOf(run)
    const again = createRowTable()
    for (let row = 0; row < table.size; row++) again.addRow(table.row(row), table.place(row))
    expect(again.columns()).toEqual(table.columns())
    expect(again.tasks).toEqual(table.tasks)
  })

  it('adds packed rows as one after the other, whatever stands in several of the batches', () => {
    fc.assert(
      fc.property(fc.array(anyLines, { minLength: 1, maxLength: 4 }), (batches) => {
        const [table, packed] = [createRowTable(), createRowTable()]
        for (const [i, lines] of batches.entries()) {
          const batch = createRowBatch()
          for (const [j, line] of lines.entries()) {
            const [row, place] = [rowOf(line), { offset: i * 100 + j, length: j, content: contentOf(line) }]
            table.addRow(row, place)
            batch.add(row, place)
          }
          packed.addRows(unpackRows(batch.pack({})))
        }
        expect(packed.columns()).toEqual(table.columns())
        expect(packed.tasks).toEqual(table.tasks)
        for (let row = 0; row < table.size; row++) expect(packed.place(row)).toEqual(table.place(row))
      }),
    )
  })

  it('has a column for each of the first 64 reward terms by name, without a value where a line lacks the term', () => {
    const [line] = run.filter(({ returns }) => returns) as [EpisodeRecord]
    const earning = (terms: Record<string, number>, attempt: number): EpisodeRecord => ({
      ...line,
      attempt,
      steps: [{ ...line.steps[0]!, reward: { total: 1, shaping: 0, terms } }],
    })
    const names = Array.from({ length: 100 }, (_, i) => `t${String(99 - i).padStart(3, '0')}`)
    const { table } = figuresOf(names.map((name, i) => earning({ [name]: i }, i)))
    const { dictionaries, columns } = table.columns()
    expect(dictionaries.terms).toEqual(names.toSorted().slice(0, 64))
    expect(columns['term.t000']).toEqual(Float64Array.from(names, (_, i) => (i === 99 ? 99 : Number.NaN)))
  })
})

describe('rowFigures', () => {
  it('sums tokens and cost of all tries, and has no sum that lacks those of an answer', () => {
    const [line] = run.filter(({ returns }) => returns) as [EpisodeRecord]
    const asked = (cost: number | null, promptTokens = 5) => [
      { model: 'm', promptTokens, completionTokens: 2, cost, text: null },
    ]
    const paid = (number: number, cost: number | null): EpisodeRecord => ({
      ...failed(line),
      try: number,
      undecided: asked(cost),
    })
    expect(figuresOf([paid(0, 1), paid(1, 2)]).figures).toMatchObject({ failed: 1, tokens: 14, cost: 3 })
    expect(figuresOf([paid(0, 1), paid(1, null)]).figures).toMatchObject({ tokens: 14, cost: null })
    const half: EpisodeRecord = { ...paid(1, null), undecided: [...asked(null), ...asked(null, 0)] }
    expect(figuresOf([paid(0, 1), half]).figures).toMatchObject({ tokens: null })
  })

  it('computes the figures of chosen rows, and rejects columns that lack what it reads', () => {
    const { table } = figuresOf(run)
    const chosen = [0, 1, 2, 3]
    const { figures } = figuresOf(run.slice(0, 4))
    expect(rowFigures(table.columns(), chosen)).toEqual(figures)
    expect(() => rowFigures(table.columns(['counts', 'task']))).toThrow(
      'These columns are missing: outcome, success, unshaped, steps, refused, promptTokens, completionTokens, cost.',
    )
  })
})
