import { createFold } from '@episodic/report/fold/fold'
import { noteFailures } from '@episodic/report/notes/run-notes'
import { playRun } from '@episodic/report/testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatSummary } from './format-summary.ts'

const anyCount = fc.integer({ min: 0, max: 10_000 })

/** The notice of a run with such a share of failures, and its summary in a terminal. */
function tell(failures: number) {
  const fold = createFold()
  for (const record of playRun({ tasks: 20, attempts: 2, failures })) fold.add(record)
  const summary = fold.finish({ name: 'test' })
  return { notice: noteFailures(summary), text: formatSummary(summary, { color: false }) }
}

describe('noteFailures', () => {
  it('returns a notice if more than one sealed episode in twenty failed', () => {
    fc.assert(
      fc.property(anyCount, anyCount, (finished, failed) => {
        const counts = { scheduled: finished + failed, finished, failed, unresolved: 0 }
        const notice = noteFailures({ counts: { ...counts, tasks: 1, steps: 0, refused: 0, conflicts: 0 } })
        expect(notice !== null).toBe(failed * 19 > finished)
      }),
    )
  })

  it('states how many episodes the figures cover, in a terminal', () => {
    const { notice, text } = tell(0.4)
    expect(notice).toMatch(
      /^\d+ of 40 sealed episodes failed \(\d+\.\d %\)\. Success and return cover only the other \d+\.$/,
    )
    expect(text).toContain(notice)
  })

  it('states that there are no figures if every episode failed', () => {
    const { notice, text } = tell(1)
    expect(notice).toBe('40 of 40 sealed episodes failed (100.0 %). There is no success rate and no return.')
    expect(text).toContain(notice)
  })

  it('returns null for a run with few failures', () => {
    const { notice, text } = tell(0)
    expect(notice).toBeNull()
    expect(text).not.toContain('sealed episodes failed')
  })
})
