import { describe, expect, it } from 'vitest'
import type { GradeRecord } from './grade-record.ts'
import { createGradeTable } from './grade-table.ts'

const verdict = (value: GradeRecord['value'], more: Partial<GradeRecord> = {}): GradeRecord => ({
  format: 1,
  run: 'r',
  task: 't',
  attempt: 0,
  try: 0,
  seal: 's',
  grader: { name: 'polite', version: '1', sha256: 'x', kind: 'model' },
  vote: 0,
  revision: 0,
  drawn: false,
  value,
  why: '',
  evidence: [],
  at: '2026-01-01T00:00:00.000Z',
  ...more,
})
const played = { task: 't', attempt: 0, try: 0 }

describe('createGradeTable', () => {
  it('returns the latest revision of a verdict, whatever the order of the lines', () => {
    const lines = [verdict(false, { revision: 1 }), verdict(true), verdict('late', { attempt: 1 })]
    for (const records of [lines, lines.toReversed()]) {
      const table = createGradeTable(records)
      expect(table.graders).toEqual(['polite'])
      expect(table.valueOf('polite', played)).toBe(false)
      expect(table.valueOf('polite', { ...played, attempt: 1 })).toBe('late')
      expect(table.valueOf('polite', { ...played, try: 1 })).toBeNull()
      expect(table.valueOf('other', played)).toBeNull()
      expect([...table.ofTasks('polite')]).toEqual(['t'])
    }
  })

  it('takes the first vote that is decided', () => {
    const table = createGradeTable([verdict(0.5, { vote: 2 }), verdict(0.25, { vote: 1 }), verdict(null)])
    expect(table.valueOf('polite', played)).toBe(0.25)
    expect(createGradeTable([verdict(null)]).valueOf('polite', played)).toBeNull()
    expect(createGradeTable([]).graders).toEqual([])
  })
})
