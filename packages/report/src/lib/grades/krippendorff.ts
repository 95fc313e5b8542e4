import type { AgreementFigure } from './agreement.ts'
import { addTo, drawnIntervals } from './drawn-interval.ts'
import type { GradeValue } from './grade-record.ts'

export interface JudgedUnit {
  readonly task: string
  readonly values: readonly GradeValue[]
}

/**
 * Krippendorff's α over any number of graders, with missing verdicts: nominal, or, if all values are numbers, of the
 * interval scale. Episodes with fewer than two verdicts are left out.
 *
 * Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011).
 */
export function krippendorffAlpha(units: readonly JudgedUnit[]): AgreementFigure {
  const paired = units.filter(({ values }) => values.length > 1)
  const all = paired.flatMap(({ values }) => values)
  const isScored = all.every((value) => typeof value === 'number')
  const labels = [...new Set(all)]
  const sumsOf = isScored ? intervalSums : (values: readonly GradeValue[]) => nominalSums(values, labels)
  const alpha = isScored ? intervalAlpha : nominalAlpha
  const tasks = [...Map.groupBy(paired, ({ task }) => task).values()].map((group) => {
    const sums = new Float64Array(isScored ? 4 : 1 + labels.length)
    for (const { values } of group) addTo(sums, sumsOf(values))
    return sums
  })
  const sums = new Float64Array(tasks[0]?.length ?? 0)
  for (const task of tasks) addTo(sums, task)
  const [interval = { low: null, high: null }] = drawnIntervals(tasks, [alpha])
  return { value: tasks.length > 0 ? alpha(sums) : null, ...interval }
}

/** The disagreement within the unit, then the count, sum and sum of squares of its values. */
function intervalSums(values: readonly GradeValue[]): ArrayLike<number> {
  const count = values.length
  let [sum, squares] = [0, 0]
  for (const value of values) {
    sum += Number(value)
    squares += Number(value) ** 2
  }
  return [(2 * (count * squares - sum ** 2)) / (count - 1), count, sum, squares]
}

function intervalAlpha(sums: Float64Array): number | null {
  const [within = 0, count = 0, sum = 0, squares = 0] = sums
  const between = 2 * (count * squares - sum ** 2)
  return between > 1e-9 ? 1 - ((count - 1) * within) / between : null
}

/** The disagreement within the unit, then how often each label was given. */
function nominalSums(values: readonly GradeValue[], labels: readonly GradeValue[]): ArrayLike<number> {
  const counts = labels.map((label) => values.filter((value) => value === label).length)
  const within = counts.reduce((sum, count) => sum + count * (values.length - count), 0) / (values.length - 1)
  return [within, ...counts]
}

function nominalAlpha(sums: Float64Array): number | null {
  const [within = 0, ...counts] = sums
  const total = counts.reduce((sum, count) => sum + count, 0)
  const between = counts.reduce((sum, count) => sum + count * (total - count), 0)
  return between > 0 ? 1 - ((total - 1) * within) / between : null
}
