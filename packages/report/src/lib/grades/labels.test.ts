import { describe, expect, it } from 'vitest'
import { gradeRecordSchema } from './grade-record.ts'
import { aGrade, someLines } from './grades.fixture.ts'
import { labelQueue, personRef, personVerdictOf } from './labels.ts'

const lines = someLines()
const question = { name: 'polite', version: '1', scale: 'boolean' } as const
const [ada, bo] = [personRef('ada', question), personRef('bo', question)]
const at = '2026-01-01T00:00:00.000Z'

describe('labelQueue', () => {
  it('gives all people the same random order, and each the next that they have not labelled', () => {
    const queue = labelQueue(lines.toReversed(), [], ada)
    expect(queue.map(({ draw }) => draw)).toEqual(lines.map(({ draw }) => draw).sort((a, b) => a - b))
    const [first] = queue
    const given = personVerdictOf({ person: ada, run: 'run', line: first!, value: null, drawn: true, earlier: [], at })
    expect(labelQueue(lines, [given], ada)).toEqual(queue.slice(1))
    expect(labelQueue(lines, [given, aGrade(first!)], bo)).toEqual(queue)
  })

  it('leaves out what does not count', () => {
    expect(
      labelQueue(
        lines.map((line) => ({ ...line, counts: false })),
        [],
        ada,
      ),
    ).toEqual([])
  })
})

describe('personVerdictOf', () => {
  it('numbers the revisions of one person and line', () => {
    const [first, second] = lines
    const give = (
      person: typeof ada,
      line: (typeof lines)[0],
      earlier: readonly ReturnType<typeof personVerdictOf>[],
    ) => personVerdictOf({ person, run: 'run', line, value: true, drawn: true, earlier, at })
    const one = give(ada, first!, [])
    const two = give(ada, first!, [one])
    expect([one.revision, two.revision]).toEqual([0, 1])
    expect(give(ada, second!, [one, two]).revision).toBe(0)
    expect(give(bo, first!, [one, two]).revision).toBe(0)
    expect(two).toMatchObject({ seal: first!.seal, grader: { kind: 'person', who: 'ada', sha256: bo.sha256 } })
  })

  it('returns what the schema of verdicts accepts as it is, also of one seat of several', () => {
    const evidence = [{ step: 2, quote: 'Hello.', found: true }]
    for (const seat of [null, 'agent']) {
      const line = { ...lines[0]!, seat }
      const given = { person: ada, run: 'run', line, value: 0.5, why: 'Well.', evidence, drawn: false, earlier: [], at }
      const verdict = personVerdictOf(given)
      expect(gradeRecordSchema.parse(verdict)).toEqual(verdict)
      expect(verdict.seat).toBe(seat ?? undefined)
      expect(personVerdictOf({ ...given, earlier: [verdict] }).revision).toBe(1)
    }
  })
})
