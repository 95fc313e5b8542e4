import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { leaderboardOf } from './leaderboard.ts'
import type { VerifiedSubmission } from './verify-submission.ts'

/** A submission of one variant of one world. */
function submission(policy: string, mean: number | null, failed: number, findings = 0): VerifiedSubmission {
  const here = mean === null ? null : { mean, low: mean - 1, high: mean + 1 }
  const line = { quantity: 'return', params: {}, policy, seats: null, focus: null, here, failed, run: 'r', sealed: 's' }
  const anchors = { random: null, optimum: null }
  return {
    folder: policy,
    findings: Array(findings).fill({ world: null, line: null, what: 'x' }),
    result: {
      format: 1,
      suite: { name: 'suite', version: '1', sha256: 'ff' },
      versions: { episodic: '1', node: 'v24' },
      seed: '0',
      episodes: 10,
      policy,
      worlds: [
        {
          environment: { name: 'coin', version: '1' },
          lines: [
            { kind: 'scored', id: `easy/scored-${policy}`, ...line, finished: 10 - failed, anchors, score: null },
          ],
        },
      ],
      counts: { references: 0, hold: 0, differ: 0, notChecked: 0 },
    },
  }
}

const anySubmissions = fc
  .array(fc.tuple(fc.option(fc.integer({ min: -50, max: 50 })), fc.nat(2), fc.constantFrom(0, 0, 0, 1)), {
    minLength: 1,
    maxLength: 8,
  })
  .map((all) => all.map(([mean, failed, findings], i) => submission(`policy-${i}`, mean, failed, findings)))

describe('leaderboardOf', () => {
  it('ranks every sound submission once by its mean, those with failed episodes last, and lists all others', () => {
    fc.assert(
      fc.property(anySubmissions, (all) => {
        const { tables, rejected } = leaderboardOf(all as [VerifiedSubmission])
        const entries = tables.flatMap((table) => table.entries)
        const names = [...entries, ...rejected].map(({ folder }) => folder)
        expect(names.sort()).toEqual(all.map(({ folder }) => folder).sort())
        expect(tables.length).toBe(entries.length > 0 ? 1 : 0)
        for (const [i, entry] of entries.slice(1).entries()) {
          const before = entries[i] as typeof entry
          if (before.failed > 0 === entry.failed > 0)
            expect(before.here?.mean ?? -99).toBeGreaterThanOrEqual(entry.here?.mean ?? -99)
          else expect(entry.failed).toBeGreaterThan(0)
        }
      }),
    )
  })
})
