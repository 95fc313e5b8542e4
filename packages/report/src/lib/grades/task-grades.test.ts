import { describe, expect, it } from 'vitest'
import { aGrade, someLines } from './grades.fixture.ts'
import { sharedGrades, taskGradesOf } from './task-grades.ts'

const lines = someLines(4, 2)
const gradesOf = (value: (i: number) => boolean | number | string | null, name = 'polite') =>
  taskGradesOf(
    lines.map((line, i) => aGrade(line, { name, value: value(i) })),
    lines,
  )

describe('taskGradesOf', () => {
  it('collects what was decided, by task', () => {
    const [polite, ...others] = gradesOf((i) => (i === 0 ? null : i % 2 === 0))
    expect(others).toEqual([])
    const expected = new Map<string, boolean[]>()
    for (const [i, { task }] of lines.entries())
      if (i > 0) expected.set(task, [...(expected.get(task) ?? []), i % 2 === 0])
    expect(polite?.tasks).toEqual(expected)
  })
})

describe('sharedGrades', () => {
  const tasks = [...new Set(lines.map(({ task }) => task))].sort()
  const byTask = (means: ReadonlyMap<string, number> | undefined) => tasks.map((task) => means?.get(task))

  it('are the rates and means of graders that every run has', () => {
    const [rate, ...others] = sharedGrades([
      gradesOf(() => true),
      [...gradesOf(() => 1, 'brief'), ...gradesOf(() => false)],
    ])
    expect(others).toEqual([])
    expect(rate).toMatchObject({ name: 'polite', unit: 'share' })
    expect(rate?.runs.map(byTask)).toEqual([tasks.map(() => 1), tasks.map(() => 0)])
    const [mean] = sharedGrades([gradesOf(() => 0.25), gradesOf(() => 0.75)])
    expect(mean).toMatchObject({ name: 'polite', unit: 'score' })
    expect(mean?.runs.map(byTask)).toEqual([tasks.map(() => 0.25), tasks.map(() => 0.75)])
  })

  it('are the share of each label, also in a run without it', () => {
    const shared = sharedGrades([gradesOf((i) => (i === 0 ? 'rude' : 'kind')), gradesOf(() => 'kind')])
    expect(shared.map(({ name }) => name)).toEqual(['polite: kind', 'polite: rude'])
    expect(shared[1]?.runs.map(byTask)).toEqual([
      tasks.map((task) => (task === lines[0]?.task ? 0.5 : 0)),
      tasks.map(() => 0),
    ])
  })

  it('are not of values of several types, nor of graders without a decision', () => {
    expect(sharedGrades([gradesOf(() => true), gradesOf(() => 1)])).toEqual([])
    expect(sharedGrades([gradesOf(() => true), gradesOf(() => null)])).toEqual([])
  })
})
