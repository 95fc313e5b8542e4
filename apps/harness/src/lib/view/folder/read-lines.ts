import { open } from 'node:fs/promises'
import type { RowTable } from '@episodic/report'
import { HttpProblem } from '../http-problem.ts'

/** Reads the lines of some rows, in the order of the rows. Rejects with `row-not-found` for a row that is not there. */
export async function readRowLines(path: string, table: RowTable, rows: readonly number[]): Promise<Buffer[]> {
  for (const row of rows)
    if (!Number.isInteger(row) || row < 0 || row >= table.size)
      throw new HttpProblem('row-not-found', `The run has no row ${row}. Its rows are 0 to ${table.size - 1}.`)
  if (rows.length === 0) return []
  await using file = await open(path)
  const lines: Buffer[] = []
  for (const row of rows) {
    const { offset, length } = table.place(row)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, offset)
    lines.push(buffer.subarray(0, bytesRead))
  }
  return lines
}
