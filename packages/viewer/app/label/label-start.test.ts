import { h } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { expect, it } from 'vitest'
import { LabelStart } from './label-start.tsx'

const start = { run: 'run', grader: '', scale: 'boolean', rubric: '', who: '', onWho: () => {} }

it('offers the questions of judges, by their names', () => {
  const judges = [{ name: 'polite', scale: 'rude,polite', rubric: 'Is it <polite>?' }]
  expect(renderToString(h(LabelStart, { ...start, judges }))).toMatch(/with its rubric: <button[^>]*><bdi>polite</)
  expect(renderToString(h(LabelStart, { ...start, judges: [] }))).not.toContain('a judge was asked')
})
