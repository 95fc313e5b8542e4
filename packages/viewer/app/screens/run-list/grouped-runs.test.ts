import type { RunEntry } from '@episodic/report/view/run-entry'
import { describe, expect, it } from 'vitest'
import { filterRuns, groupRuns, sumRuns } from './grouped-runs.ts'

function run(name: string, more: Partial<RunEntry> = {}): RunEntry {
  return {
    id: name.padEnd(10, '0'),
    name,
    set: null,
    createdAt: '2026-01-01T00:00:00.000Z',
    state: 'finished',
    environments: ['warehouse@2.1.0'],
    players: ['solver'],
    scheduled: 10,
    finished: 9,
    failed: 1,
    success: null,
    unshaped: null,
    tokens: null,
    cost: null,
    bytes: 100,
    ...more,
  }
}

const names = (groups: ReturnType<typeof groupRuns>) =>
  groups.map(({ set, runs }) => [set, ...runs.map(({ name }) => name)])

describe('groupRuns', () => {
  it('lists running ones first, then the newest, with each set where its first run would be', () => {
    const runs = [
      run('old', { createdAt: '2026-01-01T00:00:00.000Z' }),
      run('new', { createdAt: '2026-01-09T00:00:00.000Z' }),
      run('live', { createdAt: '2025-12-01T00:00:00.000Z', state: 'running' }),
      run('a', { set: 'june', createdAt: '2026-01-05T00:00:00.000Z' }),
      run('b', { set: 'june', createdAt: '2025-11-01T00:00:00.000Z' }),
    ]
    expect(names(groupRuns(runs))).toEqual([
      [null, 'live'],
      [null, 'new'],
      ['june', 'a', 'b'],
      [null, 'old'],
    ])
    expect(groupRuns([])).toEqual([])
  })
})

describe('filterRuns', () => {
  it('keeps runs in which every word stands', () => {
    const runs = [run('careful'), run('careless', { players: ['llm:qwen3'], state: 'stopped' })]
    const kept = (query: string) => filterRuns(runs, query).map(({ name }) => name)
    expect(kept('CARE warehouse')).toEqual(['careful', 'careless'])
    expect(kept('qwen stopped')).toEqual(['careless'])
    expect(kept('qwen finished')).toEqual([])
    expect(kept(' ')).toHaveLength(2)
  })
})

describe('sumRuns', () => {
  it('adds what is known, and says if a cost is not', () => {
    const paid = run('a', { tokens: 100, cost: 1.5 })
    const unpaid = run('b', { tokens: 50 })
    expect(sumRuns([paid, unpaid, run('c')])).toMatchObject({
      scheduled: 30,
      failed: 3,
      tokens: 150,
      cost: 1.5,
      atLeast: true,
    })
    expect(sumRuns([paid, run('c')]).atLeast).toBe(false)
    expect(sumRuns([run('c')])).toMatchObject({ tokens: null, cost: null, atLeast: false })
  })
})
