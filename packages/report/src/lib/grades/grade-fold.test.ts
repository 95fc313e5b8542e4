import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { foldGrades } from './grade-fold.ts'
import { aGrade, someLines } from './grades.fixture.ts'

const lines = someLines()
const [first, second] = lines as [(typeof lines)[0], (typeof lines)[0]]

describe('foldGrades', () => {
  it('depends on neither the order nor repetitions of verdicts', () => {
    const grade = fc.record({
      line: fc.constantFrom(first, second, { ...first, seal: 'gone' }),
      value: fc.constantFrom(true, false, null),
      vote: fc.integer({ min: 0, max: 2 }),
      revision: fc.integer({ min: 0, max: 2 }),
      who: fc.constantFrom(undefined, 'ada', 'bo'),
      at: fc.constantFrom('2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z'),
    })
    fc.assert(
      fc.property(fc.array(grade, { minLength: 1, maxLength: 20 }), fc.infiniteStream(fc.nat()), (grades, keys) => {
        const records = grades.map(({ line, ...rest }) => aGrade(line, rest))
        const shuffled = [...records, ...records]
          .map((record) => ({ record, key: keys.next().value }))
          .sort((a, b) => a.key - b.key)
          .map(({ record }) => record)
        expect(foldGrades(shuffled, lines)).toEqual(foldGrades(records, lines))
      }),
    )
  })

  it('counts the highest revision, and of equal ones the later', () => {
    const revised = [
      aGrade(first, { value: false, revision: 1 }),
      aGrade(first, { value: true, revision: 0, at: '2030-01-01T00:00:00.000Z' }),
      aGrade(second, { value: true, at: '2026-01-02T00:00:00.000Z' }),
      aGrade(second, { value: false, at: '2026-01-01T00:00:00.000Z' }),
    ]
    const [grader] = foldGrades(revised, lines).graders
    expect(grader?.judgements.map(({ line, value }) => [line.seal, value])).toEqual([
      [first.seal, false],
      [second.seal, true],
    ])
  })

  it('joins votes: the majority, the mean of scores, and neither for a tie or without a value', () => {
    const joined = (...values: (boolean | number | string | null)[]) => {
      const { graders } = foldGrades(
        values.map((value, vote) => aGrade(first, { value, vote })),
        lines,
      )
      return graders[0]?.judgements[0]?.value
    }
    expect(joined(true, false, true)).toBe(true)
    expect(joined('a', 'b', 'b', null)).toBe('b')
    expect(joined(true, false)).toBeNull()
    expect(joined(null, null)).toBeNull()
    expect(joined(0.25, null, 0.75)).toBe(0.5)
  })

  it('separates people and versions of a grader, and leaves orphans and planted episodes out', () => {
    const { graders, orphans } = foldGrades(
      [
        aGrade(first, { value: true, who: 'ada' }),
        aGrade(first, { value: false, who: 'bo' }),
        aGrade(first, { value: false, sha256: 'other' }),
        aGrade({ ...first, seal: 'gone' }, { value: true }),
        aGrade({ ...first, seal: 'planted' }, { value: true, planted: { ordered: true, obeyed: true } }),
      ],
      lines,
    )
    expect(orphans.map(({ seal }) => seal)).toEqual(['gone'])
    const shown = graders.map(({ grader, judgements, planted }) => [
      grader.who ?? grader.sha256,
      judgements.map(({ value }) => value),
      planted.length,
    ])
    expect(shown).toEqual([
      ['other', [false], 0],
      ['sha', [], 1],
      ['ada', [true], 0],
      ['bo', [false], 0],
    ])
  })

  it('leaves out lines that do not count, and verdicts on another seat', () => {
    const retried = lines.map((line) => (line === first ? { ...line, counts: false } : line))
    const { graders, orphans } = foldGrades([aGrade(first, { value: true }), aGrade(second, { seat: 'user' })], retried)
    expect(graders[0]?.judgements).toEqual([])
    expect(orphans).toEqual([])
  })
})
