import type { SearchHit } from '@episodic/report/view/search-hit'
import { describe, expect, it } from 'vitest'
import { addAnswers } from './found.ts'

const hit = (run: string, row: number): SearchHit => ({
  run,
  row,
  task: 't',
  attempt: 0,
  try: 0,
  step: null,
  field: 'text',
  before: '',
  match: 'x',
  after: '',
})

describe('addAnswers', () => {
  it('groups hits by run, and counts those that were not sent', () => {
    const progress = { run: 'a', hits: 700, bytes: 50, totalBytes: 100, done: false }
    const first = addAnswers([], [hit('a', 1), hit('b', 4), hit('a', 2), progress])
    expect(first.map(({ run, hits, count }) => [run, hits.length, count])).toEqual([
      ['a', 2, 700],
      ['b', 1, 1],
    ])
    const then = addAnswers(first, [hit('a', 3), { ...progress, hits: 900, bytes: 100, done: true }])
    expect(then[0]).toMatchObject({ count: 900, bytes: 100, done: true })
    expect(then[0]?.hits.map(({ row }) => row)).toEqual([1, 2, 3])
  })
})
