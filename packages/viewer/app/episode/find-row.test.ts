import type { RowWords } from '@episodic/report/view/run-entry'
import { describe, expect, it } from 'vitest'
import { findRow } from './find-row.ts'

const line = (row: number, attempt: number, number: number, message: string | null = null): RowWords => ({
  row,
  task: 'task',
  attempt,
  try: number,
  prompt: '',
  message,
})

describe('findRow', () => {
  const words = [line(0, 1, 1), line(1, 0, 0), line(2, 1, 0, 'no answer'), line(3, 2, 0, 'a'), line(4, 2, 1, 'b')]

  it('shows the first try that finished, else the last', () => {
    expect(findRow(words, 1, null)?.shown.row).toBe(0)
    expect(findRow(words, 1, null)?.tries.map(({ row }) => row)).toEqual([2, 0])
    expect(findRow(words, 2, null)?.shown.row).toBe(4)
  })

  it('shows the try that was asked for', () => {
    expect(findRow(words, 1, 0)?.shown.row).toBe(2)
    expect(findRow(words, 1, 7)).toBeNull()
    expect(findRow(words, 9, null)).toBeNull()
  })
})
