import { describe, expect, it } from 'vitest'
import { playRun } from '../fold/simulated-run.fixture.ts'
import { decodeColumns, encodeColumns } from './columns-codec.ts'
import { packArrays } from './packed-arrays.ts'
import { createRowTable } from './row-table.ts'

const table = createRowTable()
for (const record of playRun({ tasks: 5, attempts: 3, failures: 0.3 })) table.add(record)

describe('encodeColumns', () => {
  it('packs all columns or some of them, so that they can be read at any place in memory', () => {
    for (const columns of [table.columns(), table.columns(['success', 'unshaped', 'term.cost']), table.columns([])]) {
      const bytes = encodeColumns(columns)
      expect(decodeColumns(bytes)).toEqual(columns)
      const moved = new Uint8Array(bytes.length + 3)
      moved.set(bytes, 3)
      expect(decodeColumns(moved.subarray(3))).toEqual(columns)
      expect(decodeColumns(Buffer.from(moved).subarray(3))).toEqual(columns)
    }
  })
})

describe('decodeColumns', () => {
  it('rejects bytes that are something else, or incomplete', () => {
    const bytes = encodeColumns(table.columns())
    expect(() => decodeColumns(new Uint8Array(40))).toThrow(new RangeError('These bytes are no packed arrays.'))
    for (const length of [4, 14, 400, bytes.length - 1])
      expect(() => decodeColumns(bytes.slice(0, length))).toThrow(RangeError)
    expect(() => decodeColumns(packArrays({ header: {}, arrays: {} }))).toThrow('no columns of a run')
  })
})
