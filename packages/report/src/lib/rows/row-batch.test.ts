import { describe, expect, it } from 'vitest'
import { playRun } from '../fold/simulated-run.fixture.ts'
import { encodeColumns } from './columns-codec.ts'
import { rowOf } from './row.ts'
import { createRowBatch, unpackRows } from './row-batch.ts'
import { createRowTable } from './row-table.ts'

const rows = playRun({ tasks: 6, attempts: 2, failures: 0.3 }).map((line) => rowOf(line))
const placeOf = (i: number) => ({ offset: i * 2 ** 33, length: i, content: 2 ** 52 - i })

describe('createRowBatch', () => {
  it('packs rows with all of their words, and where their lines stand', () => {
    const batch = createRowBatch()
    for (const [i, row] of rows.entries()) batch.add(row, placeOf(i))
    const unpacked = unpackRows(batch.pack({ file: 'here' }))
    expect(unpacked.about).toEqual({ file: 'here' })
    expect(unpacked.size).toBe(rows.length)
    for (const [i, row] of rows.entries()) {
      expect(unpacked.row(i)).toMatchObject(row)
      expect(unpacked.place(i)).toEqual(placeOf(i))
    }
  })
})

describe('unpackRows', () => {
  it('rejects columns without the places of lines', () => {
    const table = createRowTable()
    expect(() => unpackRows(encodeColumns(table.columns()))).toThrow(
      new RangeError('These packed arrays are no rows of a run.'),
    )
  })
})
