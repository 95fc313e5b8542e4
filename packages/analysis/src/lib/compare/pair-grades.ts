import { sharedGrades, type TaskGrades } from '@episodic/report/grades/task-grades'
import { VERDICT } from '@episodic/report/notes/figure-notes'
import type { ComparedRun } from './compared-run.ts'
import { pairFigure, SHARES } from './paired-figure.ts'

/**
 * Pairs what graders say by task, as {@link pairFigure}: of each grader that every run has, over those of the tasks
 * that it graded in every run: `figures` has one of each run but the first. Graders without such a task are left out.
 */
export function pairGrades(runs: readonly Pick<ComparedRun, 'tasks' | 'grades'>[], tasks: readonly string[]) {
  return sharedGrades(runs.map(gradesOf)).flatMap(({ name, unit, runs: [first, ...others] }) => {
    const graded = tasks.filter((task) => [first, ...others].every((means) => means?.has(task)))
    const figures = others.flatMap((means) => {
      const pairs = graded.map((task) => [first?.get(task) ?? 0, means.get(task) ?? 0] as const)
      return pairFigure(pairs, unit === 'share' ? SHARES : undefined) ?? []
    })
    return graded.length > 0 ? [{ name, unit, figures }] : []
  })
}

/** Returns what is said of the episodes of a run: by further verdicts of its world, then by graders. */
export function gradesOf({ tasks, grades = [] }: Pick<ComparedRun, 'tasks' | 'grades'>): readonly TaskGrades[] {
  const verdicts = new Map<string, Map<string, readonly boolean[]>>()
  for (const [task, { plays }] of tasks)
    for (const [name, value] of [...plays.values()].flatMap((play) => Object.entries(play.verdicts ?? {}))) {
      const values = verdicts.get(name) ?? new Map<string, readonly boolean[]>()
      verdicts.set(name, values.set(task, [...(values.get(task) ?? []), value]))
    }
  const ofWorld = [...verdicts].map(([key, tasks]) => ({ key, name: VERDICT + key, labels: [], tasks }))
  return [...ofWorld, ...grades]
}
