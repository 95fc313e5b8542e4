import type { Completion, EpisodeRecord } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { playRun } from '../fold/simulated-run.fixture.ts'
import { rowFigures } from './row-figures.ts'
import { createRowTable } from './row-table.ts'
import { versionFigures } from './version-figures.ts'

const records = playRun({ tasks: 6, attempts: 4, failures: 0.2 })
const answer: Completion = { model: 'served', promptTokens: 9, completionTokens: 2, cost: null, text: null }

/** The record with an answer of each of these versions; `null`: of none. */
function answeredBy(record: EpisodeRecord, versions: readonly (string | null)[]): EpisodeRecord {
  const undecided = versions.map((policyVersion) => ({ ...answer, ...(policyVersion && { policyVersion }) }))
  return { ...record, undecided }
}

function columnsOf(lines: readonly EpisodeRecord[]) {
  const table = createRowTable()
  for (const line of lines) table.add(line)
  return table.columns()
}

describe('versionFigures', () => {
  it('has the figures of the episodes of each version, from the oldest to the newest', () => {
    const version = (i: number) => `step-${[10, 9, 12][i % 3]}`
    const lines = records.map((record, i) => answeredBy(record, [version(i), `step-${i % 2 ? 12 : 9}`]))
    const columns = columnsOf(lines)
    const figures = versionFigures(columns)
    expect(figures.map(({ version: name, behind }) => [name, behind])).toEqual([
      ['step-9', 3],
      ['step-10', 2],
      ['step-12', 0],
    ])
    const oldest = lines.map(({ undecided = [] }) =>
      undecided.map(({ policyVersion = '' }) => Number(policyVersion.slice(5))).sort((a, b) => a - b),
    )
    for (const { version: name, figures: own, updated } of figures) {
      const rows = lines.flatMap((_, row) => (`step-${oldest[row]?.[0]}` === name ? [row] : []))
      expect(own).toEqual(rowFigures(columns, rows))
      expect(updated).toBe(rows.filter((row) => oldest[row]?.[0] !== oldest[row]?.[1]).length)
    }
  })

  it('is in the order of the first episodes where versions cannot be counted, and leaves out what has none', () => {
    const lines = records.map((record, i) => answeredBy(record, [i < 4 ? 'b' : i < 8 ? 'a' : null]))
    expect(versionFigures(columnsOf(lines)).map(({ version, behind }) => [version, behind])).toEqual([
      ['b', null],
      ['a', 0],
    ])
    expect(versionFigures(columnsOf(records))).toEqual([])
  })

  it('counts an episode of several tries once, with the version of the one that counts', () => {
    const [first] = records.filter(({ outcome }) => outcome.kind === 'finished') as [EpisodeRecord]
    const failed = { kind: 'failed', error: { code: 'time-out', message: 'No answer.' } } as const
    const lines = [
      answeredBy({ ...first, outcome: failed, returns: null }, ['3']),
      answeredBy({ ...first, try: 1 }, ['4']),
    ]
    expect(versionFigures(columnsOf(lines)).map(({ version, figures }) => [version, figures.finished])).toEqual([
      ['4', 1],
    ])
  })
})
