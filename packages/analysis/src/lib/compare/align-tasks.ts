import type { TaskGrades } from '@episodic/report/grades/task-grades'
import type { ComparedRun } from './compared-run.ts'
import type { PlayedTasks } from './played-tasks.ts'

/**
 * Returns a run with its tasks under the ids that a baseline has for them, and the ids that they had.
 *
 * Tasks with the same environment, parameters and seed are the same world, but have other ids if their prompts differ.
 * They are paired if only one task of each run has that setup.
 */
export function alignTasks(baseline: ComparedRun, run: ComparedRun): ComparedRun {
  const alone = bySetup(baseline.tasks, run.tasks)
  const renamed = new Map(
    [...bySetup(run.tasks, baseline.tasks)].flatMap(([setup, own]) => {
      const other = alone.get(setup)
      return own && other ? [[own, other] as const] : []
    }),
  )
  if (renamed.size === 0) return run
  const rename = (id: string) => renamed.get(id) ?? id
  return {
    ...run,
    tasks: new Map([...run.tasks].map(([id, task]) => [rename(id), task])),
    grades: run.grades?.map(
      (grades): TaskGrades => ({ ...grades, tasks: new Map([...grades.tasks].map(([id, one]) => [rename(id), one])) }),
    ),
    ownIds: new Map([...renamed].map(([own, id]) => [id, own])),
  }
}

/** The tasks that others do not have, by their setup; `null` for a setup that several have. */
function bySetup(tasks: PlayedTasks, others: PlayedTasks): Map<string, string | null> {
  const alone = [...tasks].flatMap(([id, { setup }]) =>
    setup && !others.has(id) ? [{ id, key: JSON.stringify([setup.environment, setup.params, setup.seed]) }] : [],
  )
  const found = Map.groupBy(alone, ({ key }) => key)
  return new Map([...found].map(([key, [first, ...more]]) => [key, first && more.length === 0 ? first.id : null]))
}
