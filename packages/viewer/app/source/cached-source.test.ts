import type { EpisodeColumns } from '@episodic/report/rows/columns'
import { createRowTable, type RowTable } from '@episodic/report/rows/row-table'
import { playRun } from '@episodic/report/testing'
import { describe, expect, it } from 'vitest'
import { createCachedSource } from './cached-source.ts'
import type { Source } from './source.ts'

/** A source of one run in memory that grows, and what it was asked for. */
function growingSource() {
  const records = playRun({ tasks: 10, attempts: 2 })
  const table: RowTable = createRowTable()
  const asked: string[] = []
  let notify: (run: string | null) => void = () => {}
  const grow = (count: number) => {
    for (const record of records.splice(0, count)) table.add(record)
    notify('a')
  }
  grow(10)
  const source = {
    can: { states: false, grade: false, watch: true },
    columns: async (run: string, names: readonly string[]): Promise<EpisodeColumns> => {
      asked.push(`${run} ${names.join()}`)
      return table.columns(names)
    },
    words: async (run: string, rows: readonly number[]) => {
      asked.push(`${run} words ${rows.join()}`)
      return rows.map((row) => ({ row, task: 't', attempt: 0, try: 0, prompt: '', message: null }))
    },
    watch(listener: (run: string | null) => void) {
      notify = listener
      return () => {}
    },
  } as unknown as Source
  return { cached: createCachedSource(source), asked, grow }
}

describe('createCachedSource', () => {
  it('asks for each column once, until the run has changed', async () => {
    const { cached, asked, grow } = growingSource()
    await cached.columns('a', ['steps'])
    const both = await cached.columns('a', ['steps', 'unshaped'])
    expect(Object.keys(both.columns)).toEqual(['steps', 'unshaped'])
    await cached.columns('a', ['unshaped'])
    // A term that the run lacks is not asked for again and again.
    await cached.columns('a', ['unshaped', 'term.none'])
    expect(asked).toEqual(['a steps', 'a unshaped'])
    grow(4)
    expect((await cached.columns('a', ['steps'])).rows).toBe(14)
    expect(asked.slice(2)).toEqual(['a steps'])
  })

  it('never puts columns of different lengths together', async () => {
    const { cached, asked, grow } = growingSource()
    const first = await cached.columns('a', ['steps'])
    const second = cached.columns('a', ['unshaped'])
    grow(4)
    const { rows, columns } = await second
    expect([first.rows, rows]).toEqual([10, 14])
    expect([columns.steps?.length, columns.unshaped?.length]).toEqual([14, 14])
    expect(asked).toEqual(['a steps', 'a unshaped', 'a steps,unshaped'])
  })

  it('asks for the words of a row once', async () => {
    const { cached, asked } = growingSource()
    await cached.words('a', [1, 2])
    expect((await cached.words('a', [3, 2, 1])).map(({ row }) => row)).toEqual([3, 2, 1])
    expect(asked).toEqual(['a words 1,2', 'a words 3'])
  })
})
