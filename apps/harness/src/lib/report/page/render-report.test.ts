import type { EpisodeRecord } from '@episodic/protocol'
import { createEpisodeSample, createFold } from '@episodic/report'
import { playRun } from '@episodic/report/testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { renderReport } from './render-report.ts'

function reportOf(records: Iterable<EpisodeRecord>, name = 'test'): string {
  const [fold, sample] = [createFold(), createEpisodeSample()]
  for (const record of records) {
    fold.add(record)
    sample.add(record)
  }
  const run = { name, configuration: { attempts: 4, weights: { solved: 1 } } }
  return renderReport(fold.finish(run), run, sample.finish())
}

describe('renderReport', () => {
  const records = playRun({ tasks: 20, attempts: 4, failures: 0.1 })

  it('returns the same bytes for episodes in any order, with any repetitions', () => {
    const expected = reportOf(records)
    const anyOrder = fc.shuffledSubarray([...records, ...records.slice(0, 9)], { minLength: records.length + 9 })
    fc.assert(
      fc.property(anyOrder, (shuffled) => reportOf(shuffled) === expected),
      { numRuns: 10 },
    )
  })

  it('contains only finite figures, for any run', () => {
    const runs = [
      [],
      playRun({ tasks: 1, attempts: 1, failures: 0 }),
      playRun({ tasks: 3, attempts: 2, failures: 1 }),
      playRun({ tasks: 9, attempts: 1, shaped: false, difficulty: 0.5 }),
      records,
    ]
    for (const run of runs) expect(withoutData(reportOf(run))).not.toMatch(/NaN|Infinity|undefined|\[object/)
  })

  it('is self-contained', () => {
    const page = withoutData(reportOf(records))
    expect(page).not.toMatch(/https?:|\/\/[a-z]|\burl\(|@import|\b(src|href)=/i)
    expect(page).toContain("default-src 'none'")
  })

  it('escapes the output of a world', () => {
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
    const page = reportOf(
      [played, { ...played, attempt: 9, returns: null, outcome: { kind: 'failed', error } }],
      hostile,
    )
    expect(page.match(/<script/g)).toHaveLength(2)
    expect(page).not.toContain('<img')
    expect(page).not.toContain('<!--')
    const [data] = page.match(/(?<=id="episodes">).*?(?=<\/script>)/s) ?? []
    const [shown] = JSON.parse(data ?? '[]')
    expect(shown).toMatchObject({ task: hostile, prompt: hostile, ending: hostile })
    expect(shown.steps[0].observation).toBe(hostile)
  })

  it('stays below 10 MiB if every episode is huge', () => {
    const huge = playRun({ tasks: 300, attempts: 1, failures: 0.3 }).map((record) => ({
      ...record,
      task: { ...record.task, prompt: '<&> '.repeat(20_000) },
    }))
    expect(Buffer.byteLength(reportOf(huge))).toBeLessThan(10 * 1_048_576)
  })
})

/** The page without the episodes, which may contain any text. */
function withoutData(page: string): string {
  return page.replace(/<script.*<\/script>/s, '')
}
