import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { RunIndex } from '@episodic/pages/server/rows/run-index'
import type { EpisodeRecord } from '@episodic/protocol'
import { createFold } from '@episodic/report/fold/fold'
import { rowFigures } from '@episodic/report/rows/row-figures'
import { createRowTable } from '@episodic/report/rows/row-table'
import { playRun } from '@episodic/report/testing'
import { indexLines } from '@episodic/run/folder/index-lines'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseLine } from '../../../fixtures/episodic.fixture.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'episodic-index-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))
const episodes = () => join(folder, 'episodes.jsonl')
const lines = (records: readonly EpisodeRecord[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('')
const run = playRun({ tasks: 30, attempts: 3, failures: 0.2 })

/** Opens the index of the folder and brings it up to date. `read` has the parts of the file that were read for it. */
async function openIndex() {
  const read: (readonly [from: number, to: number])[] = []
  const index = new RunIndex({
    folder,
    index(part, onRows) {
      read.push([part.from, part.to])
      return indexLines(part, onRows)
    },
    onChange: () => {},
  })
  await index.update()
  return { index, read }
}

/** The columns of rows that were never in a file. */
function columnsOf(records: readonly EpisodeRecord[]) {
  const table = createRowTable()
  for (const record of records) table.add(record)
  return table.columns()
}

describe('RunIndex', () => {
  it('reads each line once, and again only if the file is another one', async () => {
    writeFileSync(episodes(), lines(run.slice(0, 40)))
    const first = await openIndex()
    await first.index.write()
    const half = statSync(episodes()).size
    expect(first.read).toEqual([[0, half]])
    expect((await openIndex()).read).toEqual([])
    appendFileSync(episodes(), lines(run.slice(40)))
    const { size } = statSync(episodes())
    const second = await openIndex()
    expect(second.read).toEqual([[half, size]])
    await second.index.write()
    const third = await openIndex()
    expect(third.read).toEqual([])
    for (const { index } of [second, third]) expect(index.table.columns()).toEqual(columnsOf(run))
    expect(third.index.table.tasks).toEqual([...new Set(run.map(({ task }) => task.id))])
    const text = readFileSync(episodes())
    for (const row of [0, 39, 40, 89]) {
      const { offset, length } = third.index.table.place(row)
      expect(JSON.parse(text.toString('utf8', offset, offset + length))).toEqual(run[row])
    }
    // As many bytes, of another run.
    writeFileSync(episodes(), lines(run).replaceAll('guess-fixture', 'guess-another'))
    const other = await openIndex()
    expect(other.read).toEqual([[0, size]])
    expect(other.index.table.tasks[0]).toBe('guess-another-0')
  })

  it('counts the lines that a report counts, if plays are sealed again, differently or in other bytes', async () => {
    const [line, other] = run as [EpisodeRecord, EpisodeRecord]
    const again = { ...line, time: { ...line.time, ended: line.time.ended + 1 } }
    const { task, ...rest } = other
    const reordered = { ...rest, task } as EpisodeRecord
    const sealed = [...run, again, line, reordered]
    writeFileSync(episodes(), lines(sealed))
    const { index } = await openIndex()
    const fold = createFold()
    for (const record of sealed) fold.add(parseLine(record))
    const { counts, success } = fold.finish({ name: 'test' })
    expect(counts.conflicts).toBe(1)
    expect(index.table.size).toBe(run.length + 1)
    const { finished, failed, tasks, steps, refused } = counts
    expect(rowFigures(index.table.columns())).toMatchObject({
      ...{ finished, failed, tasks, steps, refused },
      success: success.overall,
    })
  })

  it('leaves out what is no sealed episode, and a last line without its end', async () => {
    writeFileSync(episodes(), `not JSON\n\n{"format":3}\n${lines(run)}{"format":3,"run"`)
    const { index } = await openIndex()
    expect([index.unreadable, index.table.size]).toEqual([3, run.length])
    expect(index.covered).toBe(statSync(episodes()).size - '{"format":3,"run"'.length)
    await index.write()
    const { index: next } = await openIndex()
    expect([next.unreadable, next.table.size]).toEqual([3, run.length])
  })

  it('keeps its rows in memory if it cannot write beside the lines', async () => {
    writeFileSync(episodes(), lines(run))
    const { index } = await openIndex()
    rmSync(folder, { recursive: true })
    await index.write()
    expect(index.table.columns()).toEqual(columnsOf(run))
  })
})
