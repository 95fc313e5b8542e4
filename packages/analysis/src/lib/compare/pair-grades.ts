import { sharedGrades, type TaskGrades } from '@episodic/report/grades/task-grades'
import { pairFigure, SHARES } from './paired-figure.ts'

/**
 * Pairs what graders say by task, as {@link pairFigure}: of each grader that every run has, over those of the tasks
 * that it graded in every run: `figures` has one of each run but the first. Graders without such a task are left out.
 */
export function pairGrades(
  runs: readonly { readonly grades?: readonly TaskGrades[] | undefined }[],
  tasks: readonly string[],
) {
  return sharedGrades(runs.map(({ grades = [] }) => grades)).flatMap(({ name, unit, runs: [first, ...others] }) => {
    const graded = tasks.filter((task) => [first, ...others].every((means) => means?.has(task)))
    const figures = others.flatMap((means) => {
      const pairs = graded.map((task) => [first?.get(task) ?? 0, means.get(task) ?? 0] as const)
      return pairFigure(pairs, unit === 'share' ? SHARES : undefined) ?? []
    })
    return graded.length > 0 ? [{ name, unit, figures }] : []
  })
}
