import { shortBounds } from '@episodic/report/notes/void-notes'
import { createRowTable } from '@episodic/report/rows/row-table'
import { versionFigures } from '@episodic/report/rows/version-figures'
import { playRun } from '@episodic/report/testing'
import { h } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { expect, it } from 'vitest'
import { ListFigures } from '../screens/episode-list/list-figures.tsx'
import { Versions } from './versions.tsx'

const answer = { model: 'served', promptTokens: 9, completionTokens: 2, cost: null, text: null }

it('shows beside the rate of each version, and of the listed episodes, what it would be with failed episodes', () => {
  const table = createRowTable()
  for (const [i, record] of playRun({ tasks: 6, attempts: 4, failures: 0.3 }).entries())
    table.add({ ...record, undecided: [{ ...answer, policyVersion: `step-${i % 2}` }] })
  const columns = table.columns()
  const shown = renderToString(h(Versions, { run: 'a', columns }))
  const versions = versionFigures(columns)
  expect(versions).toHaveLength(2)
  for (const { figures } of versions) {
    const bounds = shortBounds({ ...figures.success, failed: figures.failed })
    expect(bounds).toMatch(/% with \d+ failed$/)
    expect(shown).toContain(bounds)
    expect(renderToString(h(ListFigures, { figures, whole: 24, byResult: false }))).toContain(bounds)
    // Of episodes that were chosen by how they ended, a rate says nothing of others.
    expect(renderToString(h(ListFigures, { figures, whole: 24, byResult: true }))).not.toContain(' to ')
  }
})
