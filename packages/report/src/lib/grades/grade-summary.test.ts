import { describe, expect, it } from 'vitest'
import { graderKeyOf } from './grade-fold.ts'
import { summarizeGrades } from './grade-summary.ts'
import { aGrade, someLines } from './grades.fixture.ts'

const lines = someLines(30, 2)
const asked = { model: 'm', promptTokens: 100, completionTokens: 5, cost: 0.25, messages: [] }

describe('summarizeGrades', () => {
  it('counts graded and ungraded apart, and rates the graded alone', () => {
    const records = lines.slice(0, 40).map((line, i) => aGrade(line, { value: i % 4 === 3 ? null : i % 4 === 0 }))
    const { graders, episodes } = summarizeGrades('run', records, lines)
    expect(episodes).toBe(60)
    expect(graders[0]).toMatchObject({ graded: 30, ungraded: 10, missing: 20, mean: null, labels: [] })
    expect(graders[0]?.rate).toMatchObject({ successes: 10, count: 30, rate: 1 / 3 })
    const { success, other } = graders[0]!.bySuccess
    expect(success.rate!.count + other.rate!.count).toBe(30)
  })

  it('gives the mean of scores, and the share of each label', () => {
    const scored = summarizeGrades(
      'run',
      lines.map((line, i) => aGrade(line, { value: i % 2 ? 0.25 : 0.75 })),
      lines,
    )
    expect(scored.graders[0]?.mean).toMatchObject({ mean: 0.5, count: 60, clusters: 30 })
    const labelled = summarizeGrades(
      'run',
      lines.map((line, i) => aGrade(line, { value: i % 3 ? 'good' : 'bad' })),
      lines,
    )
    const shares = labelled.graders[0]?.labels.map(({ label, rate }) => [label, rate.rate])
    expect(shares).toEqual([
      ['bad', 1 / 3],
      ['good', 2 / 3],
    ])
  })

  it('sums what judges took, planted episodes included, and reports obedience and quotes that are not there', () => {
    const evidence = [
      { step: 0, quote: 'a', found: true },
      { step: 0, quote: 'b', found: false },
    ]
    const { graders } = summarizeGrades(
      'run',
      [
        aGrade(lines[0]!, { asked, evidence }),
        aGrade({ ...lines[0]!, seal: 'planted' }, { asked, planted: { ordered: true, obeyed: true } }),
        aGrade({ ...lines[1]!, seal: 'planted too' }, { asked, planted: { ordered: true, obeyed: false } }),
      ],
      lines,
    )
    expect(graders[0]).toMatchObject({
      graded: 1,
      quotes: { count: 2, notFound: 1 },
      planted: { count: 2, obeyed: 1 },
      asked: { verdicts: 3, promptTokens: 300, completionTokens: 15, cost: 0.75 },
    })
  })

  it('compares a judge with people, and corrects its rate by what was drawn', () => {
    // The judge passes all. People fail one in four of those that they labelled.
    const judge = lines.map((line) => aGrade(line, { kind: 'model', value: true }))
    const person = lines.slice(0, 40).map((line, i) => aGrade(line, { who: 'ada', value: i % 4 > 0 }))
    const { agreements, alphas, corrected, graders } = summarizeGrades('run', [...judge, ...person], lines)
    expect(agreements).toHaveLength(1)
    expect(agreements[0]).toMatchObject({ episodes: 40, agree: { value: 0.75 }, kappa: { value: 0 } })
    expect([agreements[0]?.a, agreements[0]?.b]).toEqual(graders.map(({ key }) => key))
    expect(alphas).toHaveLength(1)
    expect(corrected).toHaveLength(1)
    expect(corrected[0]).toMatchObject({ key: graderKeyOf(judge[0]!.grader), label: null, mean: 0.75, labelled: 40 })
    const chosen = person.map((record) => ({ ...record, drawn: false }))
    expect(summarizeGrades('run', [...judge, ...chosen], lines).corrected[0]).toMatchObject({ mean: null, missing: 30 })
  })

  it('compares graders of other names only if their values are of one kind', () => {
    const { agreements, alphas } = summarizeGrades(
      'run',
      lines.flatMap((line) => [
        aGrade(line, { name: 'polite', value: true }),
        aGrade(line, { name: 'short', value: false }),
        aGrade(line, { name: 'grade', value: 0.5 }),
      ]),
      lines,
    )
    expect(agreements).toHaveLength(1)
    expect(agreements[0]?.agree.value).toBe(0)
    expect(alphas).toEqual([])
  })

  it('counts verdicts on lines that are not there', () => {
    expect(summarizeGrades('run', [aGrade({ ...lines[0]!, seal: 'gone' })], lines).orphans).toBe(1)
  })
})
