import type { EpisodeRecord } from '@episodic/protocol'
import { createFold } from '@episodic/report/fold/fold'
import { shortBounds, shortVoids } from '@episodic/report/notes/void-notes'
import { decodeColumns } from '@episodic/report/rows/columns-codec'
import { playRun } from '@episodic/report/testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pageContent } from './page-content.fixture.ts'
import { type PageContent, renderReport } from './render-report.ts'

function reportOf(
  records: Iterable<EpisodeRecord>,
  name = 'test',
  content: Omit<PageContent, 'lines'> = {},
): Promise<string> {
  const fold = createFold()
  const lines: string[] = []
  for (const record of records) {
    fold.add(record)
    lines.push(JSON.stringify(record))
  }
  const run = { name, configuration: { attempts: 4, weights: { solved: 1 } } }
  return renderReport(fold.finish(run), run, { lines: () => lines, ...content })
}

describe('renderReport', () => {
  const records = playRun({ tasks: 20, attempts: 4, failures: 0.1 })

  it('resolves with the same text for episodes in any order, with any repetitions', async () => {
    const expected = await reportOf(records)
    const anyOrder = fc.shuffledSubarray([...records, ...records.slice(0, 9)], { minLength: records.length + 9 })
    await fc.assert(
      fc.asyncProperty(anyOrder, async (shuffled) => (await reportOf(shuffled)) === expected),
      { numRuns: 10 },
    )
  })

  it('has the figures of the summary without a script', async () => {
    const text = figuresOf(await reportOf(records, 'my run')).replaceAll(/<[^>]*>/g, ' ')
    expect(text).toContain('my run')
    for (const title of [
      'Success by split, tag and difficulty',
      'Reward by step',
      'World step',
      'Settings of the run',
      'attempts',
    ])
      expect(text).toContain(title)
    expect(text).toMatch(/Success {2}\d+\.\d % {2}95 % \d+\.\d to \d+\.\d %/)
  })

  it('has beside pass@k, first tries, seats and trees what they would be with failed episodes', async () => {
    const fold = createFold()
    for (const [i, record] of records.entries()) {
      const branch = { rollout: record.attempt >> 1, leaves: 2, copies: 1, path: [i % 2], at: [0], seeds: [null] }
      fold.add({ ...record, branch })
      if (record.outcome.kind === 'failed') fold.add({ ...record, branch, try: 1 })
    }
    const summary = fold.finish({ name: 'test' })
    const { counts, success, branch, policies } = summary
    const { failed } = counts
    const figures = { return: null, steps: 0, refused: 0, tokens: null, faults: 0 }
    // A seat has another rate than the seat in focus.
    const overall = { ...success.overall, successes: success.overall.successes - 1 }
    const seats = [{ name: 'second', focus: false, policies, success: overall, ...figures }]
    const run = { name: 'test', configuration: {} }
    const page = figuresOf(await renderReport({ ...summary, seats }, run, { lines: () => [] }))
    const shown = [
      shortBounds({ ...overall, failed }),
      shortVoids({ failed, bounds: success.passAtK[0]?.bounds ?? null }).join(),
      shortBounds(success.firstTry ?? { successes: 0, count: 0, failed: 0 }),
      ...[branch?.best, branch?.mean].map((trees) =>
        shortVoids({ failed: branch?.failed ?? 0, bounds: trees?.bounds ?? null }).join(),
      ),
    ]
    for (const bounds of shown)
      expect([bounds, page.includes(bounds)]).toEqual([expect.stringMatching(/with \d+ failed/), true])
  })

  it('draws each tree of a branched run, in which a world says nothing but text', async () => {
    const branched = playRun({ tasks: 4, attempts: 2, failures: 0 }).map((record) => {
      const branch = { rollout: 0, leaves: 2, copies: 1, path: [record.attempt], at: [0], seeds: [null] }
      return { ...record, task: { ...record.task, id: `<img src=x>${record.task.id}` }, branch }
    })
    const page = figuresOf(await reportOf(branched))
    expect(page.match(/aria-label="The lines of /g)).toHaveLength(4)
    expect(page).toContain('<h3>Best of 2</h3>')
    expect(page).not.toContain('<img')
  })

  it('holds every line as it was sealed, with its columns and words', async () => {
    const { runs, withheld } = pageContent(await reportOf(records))
    const [run] = runs
    expect(run?.detail.rows).toBe(records.length)
    expect(withheld).toEqual([])
    const held = Object.values(run?.lines ?? {}).toSorted()
    expect(held).toEqual(records.map((record) => JSON.stringify(record)).toSorted())
    const { rows, columns } = decodeColumns(Buffer.from(run?.columns ?? '', 'base64'))
    for (let row = 0; row < rows; row++) {
      const record = JSON.parse(run?.lines[row] ?? 'null') as EpisodeRecord
      expect(run?.words[row]).toMatchObject({ row, task: record.task.id, attempt: record.attempt })
      expect(columns.steps?.[row]).toBe(record.steps.length)
      expect(columns.unshaped?.[row]).toBe(record.returns?.unshaped ?? Number.NaN)
    }
  })

  it('escapes the output of a world', async () => {
    const hostile = '</script><script>alert(1)</script><img src=x onerror=alert(1)>"\'&<!--'
    const [record] = records as [EpisodeRecord]
    const step = {
      ...record.steps[0]!,
      action: { tool: hostile, arguments: { [hostile]: hostile } },
      observation: { text: hostile, structured: { [hostile]: hostile } },
      reward: { total: 1, shaping: 0, terms: { [hostile]: 1 } },
    }
    const end = { kind: 'terminated', reason: hostile } as const
    const task = { ...record.task, id: hostile, prompt: hostile, tags: [hostile] }
    const names = { environment: { name: hostile, version: hostile }, policy: { name: hostile, seed: hostile } }
    const played = { ...record, ...names, task, steps: [step], outcome: { kind: 'finished', end } as const }
    const error = { code: hostile, message: hostile }
    const page = await reportOf(
      [played, { ...played, attempt: 9, returns: null, outcome: { kind: 'failed', error } }],
      hostile,
    )
    expect(page.match(/<script/g)).toHaveLength(3)
    expect(page).not.toContain('<img')
    const [run] = pageContent(page).runs
    expect(run?.words[0]).toMatchObject({ task: hostile, prompt: hostile })
  })
})

/** The page without its data and its script, which may contain any text. */
function figuresOf(page: string): string {
  return page.replaceAll(/<script.*?<\/script>/gs, '')
}
