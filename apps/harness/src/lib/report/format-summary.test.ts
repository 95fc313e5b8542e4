import { describe, expect, it } from 'vitest'
import { createFold } from './fold.ts'
import { formatSummary } from './format-summary.ts'
import { playRun } from './played-run.fixture.ts'

const ESCAPE = String.fromCharCode(27)

describe('formatSummary', () => {
  const fold = createFold()
  for (const record of playRun({ tasks: 10, attempts: 4, failures: 0.2 })) fold.add(record)
  const summary = fold.finish({ name: `run${ESCAPE}[2J`, scheduled: 50 })

  it('tells the account of the run and its figures in plain text', () => {
    const text = formatSummary(summary, { color: false })
    expect(text).toContain('50 scheduled')
    expect(text).toContain(`${summary.counts.failed} failed`)
    expect(text).toContain('10 unresolved')
    expect(text).toContain('pass@4')
    expect(text.endsWith('\n')).toBe(true)
    expect(text).not.toContain(ESCAPE)
  })

  it('colours the same text, and lets no name move the cursor', () => {
    const colored = formatSummary(summary, { color: true })
    expect(colored).not.toContain(`${ESCAPE}[2J`)
    const codes = new RegExp(`${ESCAPE}\\[\\d+m`, 'g')
    expect(colored.match(codes)).not.toBeNull()
    expect(colored.replace(codes, '')).toBe(formatSummary(summary, { color: false }))
  })

  it('says little about an empty run', () => {
    expect(formatSummary(createFold().finish({ name: 'none' }), { color: false })).toContain('0 scheduled')
  })
})
