import { describe, expect, it } from 'vitest'
import { disagreements } from './disagreements.ts'
import { summarizeGrades } from './grade-summary.ts'
import { aGrade, someLines } from './grades.fixture.ts'

describe('disagreements', () => {
  const lines = someLines()
  const placeOf = ({ task, attempt, try: number }: (typeof lines)[number]) => ({ task, attempt, try: number })

  it('are the episodes on which a judge and a person differ, each once', () => {
    const grades = lines.flatMap((line, i) => [
      aGrade(line, { kind: 'model', value: true }),
      aGrade(line, { who: 'ada', sha256: 'people', value: i > 1 }),
      aGrade(line, { who: 'bo', sha256: 'people', value: i > 0 }),
    ])
    expect(disagreements(summarizeGrades('run', grades, lines))).toEqual(lines.slice(0, 2).map(placeOf))
  })

  it('are neither those of two people, nor those of other questions', () => {
    const grades = lines.flatMap((line) => [
      aGrade(line, { name: 'brief', kind: 'model', value: true }),
      aGrade(line, { who: 'ada', sha256: 'people', value: true }),
      aGrade(line, { who: 'bo', sha256: 'people', value: false }),
    ])
    expect(disagreements(summarizeGrades('run', grades, lines))).toEqual([])
  })

  it('are scores that differ by more than 0.1', () => {
    const [near, far] = lines as [(typeof lines)[number], (typeof lines)[number]]
    const grades = [
      aGrade(near, { value: 0.19 }),
      aGrade(near, { who: 'ada', sha256: 'people', value: 0.21 }),
      aGrade(far, { value: 0.25 }),
      aGrade(far, { who: 'ada', sha256: 'people', value: 0.39 }),
    ]
    expect(disagreements(summarizeGrades('run', grades, lines))).toEqual([placeOf(far)])
  })
})
