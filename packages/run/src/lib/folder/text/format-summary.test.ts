import type { EpisodeRecord } from '@episodic/protocol'
import { createFold } from '@episodic/report/fold/fold'
import { playRun } from '@episodic/report/testing'
import { describe, expect, it } from 'vitest'
import { formatSummary } from './format-summary.ts'

const ESCAPE = String.fromCharCode(27)

describe('formatSummary', () => {
  const fold = createFold()
  for (const record of playRun({ tasks: 10, attempts: 4, failures: 0.2 })) fold.add(record)
  const summary = fold.finish({ name: `run${ESCAPE}[2J`, scheduled: 50 })

  it('prints counts and figures in plain text', () => {
    const text = formatSummary(summary, { color: false })
    expect(text).toContain('50 scheduled')
    expect(text).toContain(`${summary.counts.failed} failed`)
    expect(text).toContain('10 unresolved')
    expect(text).toContain('pass@4')
    expect(text.endsWith('\n')).toBe(true)
    expect(text).not.toContain(ESCAPE)
  })

  it('prints beside pass@k and first tries what they would be with failed episodes', () => {
    const fold = createFold()
    const records = playRun({ tasks: 10, attempts: 4, failures: 0.2 })
    for (const [i, record] of records.entries()) {
      fold.add(record)
      if (record.outcome.kind === 'failed' && i > 20) fold.add({ ...record, try: 1 })
    }
    const text = formatSummary(fold.finish({ name: 'test' }), { color: false })
    const bounds = '[\\d.]+ to [\\d.]+ % with \\d+ failed\\n'
    for (const name of ['pass@4 ', 'pass\\^4 ', 'first tries '])
      expect(text).toMatch(new RegExp(`${name}.*   ${bounds}`))
  })

  it('prints beside the rate of each seat what it would be with failed episodes', () => {
    const { counts, success, policies } = summary
    const figures = { return: null, steps: 0, refused: 0, tokens: null, faults: 0 }
    const seats = [{ name: 'first', focus: true, policies, success: success.overall, ...figures }]
    const note = `% with ${counts.failed} failed`
    expect(formatSummary({ ...summary, seats }, { color: false })).toMatch(new RegExp(`success [\\d.]+ %, .*${note}`))
    const unfailed = { ...summary, seats, counts: { ...counts, failed: 0 } }
    expect(formatSummary(unfailed, { color: false })).not.toMatch(/success [\d.]+ %,/)
  })

  it('colors the same text, and strips control characters from names', () => {
    const colored = formatSummary(summary, { color: true })
    expect(colored).not.toContain(`${ESCAPE}[2J`)
    const codes = new RegExp(`${ESCAPE}\\[\\d+m`, 'g')
    expect(colored.match(codes)).not.toBeNull()
    expect(colored.replace(codes, '')).toBe(formatSummary(summary, { color: false }))
  })

  it('distinguishes shaped from unshaped returns, even if shaping sums up to 0', () => {
    const [record] = playRun({ tasks: 1, attempts: 1, failures: 0, shaped: false }) as [EpisodeRecord]
    const returnLines = (shaping: readonly number[], discounted: number) => {
      const steps = shaping.map((each) => ({
        ...record.steps[0]!,
        reward: { total: 1 + each, terms: { solved: 1 }, shaping: each },
      }))
      const total = steps.reduce((sum, { reward }) => sum + reward.total, 0)
      const fold = createFold()
      fold.add({ ...record, steps, returns: { total, unshaped: steps.length, discounted } })
      return formatSummary(fold.finish({ name: 'test' }), { color: false }).match(/^ *(return|discounted).*/gm)
    }
    expect(returnLines([0, 0], 2)).toEqual([expect.stringMatching(/^ {2}return +2\.00/)])
    expect(returnLines([0.5, -0.5], 2)).toEqual([
      expect.stringMatching(/return, unshaped +2\.00/),
      expect.stringMatching(/return, shaped +2\.00/),
    ])
    expect(returnLines([0.5, 0.5], 1)).toHaveLength(3)
  })

  it('wraps the whole message of a failure', () => {
    const [record] = playRun({ tasks: 1, attempts: 1, failures: 0 }) as [EpisodeRecord]
    const message = `The model said: ${'no key was found here, '.repeat(12)}and that is the end of it.`
    const fold = createFold()
    fold.add({ ...record, outcome: { kind: 'failed', error: { code: 'policy-failed', message } }, returns: null })
    const shown = formatSummary(fold.finish({ name: 'test' }), { color: false })
    expect(shown.replaceAll(/\n +/g, ' ')).toContain(message)
    for (const line of shown.split('\n')) expect(line.length).toBeLessThan(140)
  })

  it('prints only the counts of an empty run', () => {
    expect(formatSummary(createFold().finish({ name: 'none' }), { color: false })).toContain('0 scheduled')
  })
})
