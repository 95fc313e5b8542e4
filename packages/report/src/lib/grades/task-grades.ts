import { inOrder } from './agreement.ts'
import type { GradableLine } from './gradable-lines.ts'
import { foldGrades } from './grade-fold.ts'
import type { GradeRecord, GradeValue } from './grade-record.ts'
import { graderNames } from './grader-names.ts'

export interface TaskGrades {
  /** Equal for the same grader in other runs. */
  readonly key: string
  readonly name: string
  /** Those of its scale, the best one last; empty for other scales. */
  readonly labels: readonly string[]
  readonly tasks: ReadonlyMap<string, readonly GradeValue[]>
}

export interface SharedGrade {
  readonly name: string
  /** `share`: of `true`, or of the label; `score`: a mean. */
  readonly unit: 'share' | 'score'
  /** By run, then by task: the mean over the episodes with a decision. */
  readonly runs: readonly ReadonlyMap<string, number>[]
}

export function taskGradesOf(records: Iterable<GradeRecord>, lines: readonly GradableLine[]): TaskGrades[] {
  const { graders } = foldGrades(records, lines)
  const names = graderNames(graders)
  return graders.map(({ key, grader: { labels = [] }, judgements }) => {
    const tasks = new Map<string, GradeValue[]>()
    for (const { line, value } of judgements)
      if (value !== null) tasks.set(line.task, [...(tasks.get(line.task) ?? []), value])
    return { key, name: names.get(key) ?? '', labels, tasks }
  })
}

/** Returns the figures by graders of every run. Values of several types have none; labels have shares. */
export function sharedGrades(runs: readonly (readonly TaskGrades[])[]): SharedGrade[] {
  const [first = [], ...others] = runs
  return first.flatMap(({ key, name, labels: order, tasks }): SharedGrade[] => {
    const same = others.map((graders) => graders.find((grader) => grader.key === key)?.tasks ?? new Map())
    const all: readonly TaskGrades['tasks'][] = [tasks, ...same]
    const values = all.flatMap((each) => [...each.values()].flat())
    const [type, ...types] = new Set(values.map((value) => typeof value))
    if (type === undefined || types.length > 0 || all.some(({ size }) => size === 0)) return []
    const means = (numberOf: (value: GradeValue) => number) => all.map((each) => meansOf(each, numberOf))
    if (type === 'number') return [{ name, unit: 'score', runs: means(Number) }]
    if (type === 'boolean') return [{ name, unit: 'share', runs: means(Number) }]
    const labels = inOrder(values.map(String), order)
    return labels.map((label) => ({
      name: `${name}: ${label}`,
      unit: 'share',
      runs: means((value) => Number(value === label)),
    }))
  })
}

function meansOf(tasks: TaskGrades['tasks'], numberOf: (value: GradeValue) => number): Map<string, number> {
  return new Map(
    [...tasks].map(([task, values]) => [
      task,
      values.reduce<number>((sum, value) => sum + numberOf(value), 0) / values.length,
    ]),
  )
}
