import type { EpisodeRecord } from '@episodic/protocol'
import { createFold, decodeColumns, noteFailures, shortBounds, shortVoids } from '@episodic/report'
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

  it('contains only finite figures, for any run', async () => {
    const runs = [
      [],
      playRun({ tasks: 1, attempts: 1, failures: 0 }),
      playRun({ tasks: 3, attempts: 2, failures: 1 }),
      playRun({ tasks: 9, attempts: 1, shaped: false, difficulty: 0.5 }),
      records,
    ]
    for (const run of runs) expect(figuresOf(await reportOf(run))).not.toMatch(/NaN|Infinity|undefined|\[object/)
  })

  it('is self-contained', async () => {
    const page = await reportOf(records)
    // Hashes in its policy may have any letters in them.
    const text = figuresOf(page).replaceAll(/'sha256-[^']*'/g, '')
    expect(text).not.toMatch(/https?:|\/\/[a-z]|\burl\(|@import|\bsrc=|\bstyle=/i)
    expect(figuresOf(page).match(/href="[^#"][^"]*"/g)).toBeNull()
    expect(page).toContain("default-src 'none'")
    expect(page).toContain("connect-src 'none'")
  })

  it('has the figures of the summary without a script', async () => {
    const text = figuresOf(await reportOf(records, 'my run')).replaceAll(/<[^>]*>/g, ' ')
    expect(text).toContain('my run')
    for (const title of ['Success by difficulty', 'Reward by step', 'World step', 'Settings of the run', 'attempts'])
      expect(text).toContain(title)
    expect(text).toMatch(/Success {2}\d+\.\d % {2}95 % \d+\.\d to \d+\.\d %/)
  })

  it('has beside each rate of a tag, split and difficulty what it would be with failed episodes, and nothing if none failed', async () => {
    const fold = createFold()
    for (const record of records) fold.add(record)
    const { byTag, bySplit, byDifficulty } = fold.finish({ name: 'test' }).success
    const page = figuresOf(await reportOf(records))
    const groups = [...byTag, ...bySplit, ...byDifficulty].filter(({ failed }) => failed > 0)
    expect(groups.length).toBeGreaterThan(2)
    for (const group of groups) expect(page).toContain(shortBounds(group))
    const finished = records.filter(({ outcome }) => outcome.kind === 'finished')
    expect(figuresOf(await reportOf(finished))).not.toMatch(/% with \d|With failed/)
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

  it('says first how many episodes the figures cover', async () => {
    const failing = playRun({ tasks: 20, attempts: 2, failures: 0.4 })
    const fold = createFold()
    for (const record of failing) fold.add(record)
    const notice = noteFailures(fold.finish({ name: 'test' })) ?? 'none'
    expect(figuresOf(await reportOf(failing))).toContain(`role="alert">${notice}</p>`)
    expect(figuresOf(await reportOf(playRun({ tasks: 9, attempts: 1, failures: 0 })))).not.toContain('role="alert"')
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

  it('holds as many whole lines as it may, some of each kind, and says what it has not', async () => {
    const page = await reportOf(records, 'test', { mostCharacters: 100_000, commands: { view: 'episodic view here' } })
    const { runs, withheld } = pageContent(page)
    const lines = Object.values(runs[0]?.lines ?? {})
    const characters = lines.reduce((sum, line) => sum + line.length, 0)
    expect(characters).toBeLessThanOrEqual(100_000)
    expect(characters).toBeGreaterThan(80_000)
    expect(lines.length).toBeLessThan(records.length)
    expect(withheld).toEqual([`${lines.length} of 80 episodes are here step by step. All of them: episodic view here`])
    expect(runs[0]?.words).toHaveLength(80)
  })

  it('holds as many episodes as it may, the same ones for lines in any order, and says of how many the summary is', async () => {
    const retried = records.flatMap((record) =>
      record.outcome.kind === 'failed' ? [record, { ...record, try: 1, run: 'again' }] : [record],
    )
    const content = { mostRows: 30, commands: { view: 'episodic view here' } }
    const page = await reportOf(retried, 'test', content)
    expect(await reportOf(retried.toReversed(), 'test', content)).toBe(page)
    const { runs, withheld } = pageContent(page)
    const [run] = runs
    expect(run?.detail.rows).toBe(30)
    expect(run?.words).toHaveLength(30)
    expect(Object.keys(run?.lines ?? {})).toHaveLength(30)
    expect(withheld).toEqual([
      'The summary is of all 80 episodes; lists, filters and plots are of 30 of them, drawn at random. All of them: episodic view here',
    ])
    const { columns } = decodeColumns(Buffer.from(run?.columns ?? '', 'base64'))
    expect([...(columns.counts ?? [])]).toEqual(Array(30).fill(1))
    for (const { task, attempt, try: number } of run?.words ?? []) {
      const last = retried.findLast((record) => record.task.id === task && record.attempt === attempt)
      expect(number).toBe(last?.try)
    }
  })

  it('skips lines that are torn', async () => {
    const [one, other] = records.map((record) => JSON.stringify(record)) as [string, string]
    const fold = createFold()
    fold.add(records[0] as EpisodeRecord)
    const run = { name: 'torn', configuration: {} }
    const lines = () => [one, '', other.slice(0, 500)]
    const page = await renderReport(fold.finish(run), run, { lines })
    expect(Object.values(pageContent(page).runs[0]?.lines ?? {})).toEqual([one])
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

  it('holds 400 plain episodes in 500 KB', async () => {
    const plain = playRun({ tasks: 100, attempts: 4, failures: 0 })
    const page = await reportOf(plain)
    expect(Object.keys(pageContent(page).runs[0]?.lines ?? {})).toHaveLength(400)
    expect(Buffer.byteLength(page)).toBeLessThan(500_000)
  })
})

/** The page without its data and its script, which may contain any text. */
function figuresOf(page: string): string {
  return page.replaceAll(/<script.*?<\/script>/gs, '')
}
