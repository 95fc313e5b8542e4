import { describe, expect, it } from 'vitest'
import { formatSuite } from './format-suite.ts'
import { countVerdicts, type LineResult, type SuiteResult } from './suite-result.ts'

const line = { id: 'easy/one', quantity: 'a quantity', params: { level: 1 } }
const played = {
  policy: 'solver',
  seats: null,
  focus: null,
  finished: 50,
  failed: 0,
  run: 'runs/w/one',
  sealed: 'aa',
  solved: null,
}
const paid = { ...played, unearned: { of: 9, episodes: 4, mean: 1, least: null } }
const reference = { value: 3, tolerance: 'interval', source: 'a book' } as const
const mean = { mean: 2.9, low: 2.5, high: 3.3 }

const LINES: readonly LineResult[] = [
  {
    kind: 'exact',
    ...line,
    reference: { ...reference, value: 'ab'.repeat(32) },
    here: 'ab'.repeat(32),
    verdict: 'same',
  },
  { kind: 'exact', ...line, reference: { ...reference, value: [1, 2, 3] }, here: [1, 2, 4], verdict: 'differs' },
  { kind: 'played', ...line, ...played, reference, here: mean, verdict: 'inside' },
  { kind: 'played', ...line, ...played, reference, here: { mean: 9, low: 9, high: 9 }, verdict: 'differs' },
  { kind: 'played', ...line, ...played, reference, here: null, failed: 50, finished: 0, verdict: 'not-checked' },
  { kind: 'scored', ...line, ...played, anchors: { random: 0, optimum: 4 }, here: mean, score: mean },
  { kind: 'scored', ...line, ...paid, anchors: { random: null, optimum: null }, here: mean, score: null },
]

function resultOf(lines: readonly LineResult[], name = 'suite'): SuiteResult {
  const environment = { name, version: '1.0.0' }
  const worlds = [{ name, environment, tasks: null, golden: null, defects: [], lines: [...lines] }]
  return {
    format: 1,
    suite: { name, version: '1', sha256: 'ff' },
    versions: { episodic: '1.0.0', node: 'v24' },
    seed: name,
    episodes: 50,
    policy: name,
    worlds,
    counts: countVerdicts(worlds),
    notReproduced: [],
    sources: [],
  }
}

const shown = (lines: readonly LineResult[]) => formatSuite(resultOf(lines), { color: false })

describe('the table of a suite', () => {
  it('contains only finite figures', () => {
    for (const lines of [LINES, LINES.slice(0, 1), LINES.slice(4, 5)])
      expect(shown(lines)).not.toMatch(/NaN|Infinity|undefined|\[object/)
  })

  it('shows every verdict, and counts the figures that differ', () => {
    const table = shown(LINES)
    for (const text of ['same', 'differs', 'inside 99.9 %', 'outside 99.9 %', 'not checked: 50 failed', '(4 earned w'])
      expect(table).toContain(text)
    expect(table).toContain('5 references   2 hold   2 differ   1 not checked')
  })
})
