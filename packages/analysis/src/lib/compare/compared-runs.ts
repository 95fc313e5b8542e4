import type { ComparedRuns } from '@episodic/report/view/compared-runs'
import { alignTasks } from './align-tasks.ts'
import { compareRuns, meansOf } from './compare-runs.ts'
import { type ComparedWithBaseline, compareWithBaseline, type UnreadRun } from './compare-with-baseline.ts'
import type { ComparedRun } from './compared-run.ts'
import { contrastRuns } from './contrast-runs.ts'

export const MOST_COMPARED = 500
const MOST_FIGURES = 32_000

/**
 * Compares runs with the first one, for a page. The prompts and the rows of the tasks are left empty. Of more than two
 * runs, those that cannot be compared are left out and named.
 *
 * Throws `runs-differ` if no two can be compared.
 */
export function comparedOf(ids: readonly string[], runs: readonly (ComparedRun | UnreadRun)[]): ComparedRuns {
  const [first, second] = runs
  const idAt = (place: number) => ids[place] ?? ''
  const isPair = first && second && 'tasks' in first && 'tasks' in second && runs.length === 2
  const compared: ComparedWithBaseline = isPair
    ? {
        ...{ baseline: first, others: [alignTasks(first, second)], comparisons: [compareRuns(first, second)] },
        ...{ places: [0, 1], leftOut: [] },
      }
    : compareWithBaseline(runs)
  const { baseline, others, comparisons, places, leftOut } = compared
  return {
    baseline: idAt(places[0] ?? 0),
    runs: places.map(idAt),
    leftOut: leftOut.map(({ place, name, why }) => ({ run: idAt(place), name, why })),
    contrasts: isPair ? null : contrastRuns(compared),
    comparisons,
    tasks: tasksOf([baseline, ...others]),
  }
}

function tasksOf(compared: readonly ComparedRun[]): ComparedRuns['tasks'] {
  const [baseline, ...others] = compared
  const shared = [...(baseline?.tasks.keys() ?? [])].filter((id) => others.some(({ tasks }) => tasks.has(id)))
  const described = shared.map((task) => {
    const runs = compared.map(({ tasks }) => figuresOf(tasks.get(task)))
    const means = runs.flatMap(({ unshaped }) => unshaped ?? [])
    const difference = means.length > 1 ? Math.max(...means) - Math.min(...means) : 0
    return { task, prompt: '', runs, difference }
  })
  return described
    .sort((a, b) => b.difference - a.difference || (a.task < b.task ? -1 : 1))
    .slice(0, Math.max(1, Math.floor(MOST_FIGURES / compared.length)))
    .map(({ difference: _, ...task }) => task)
}

function figuresOf(task: ReturnType<ComparedRun['tasks']['get']>) {
  const { finished = 0, successes = 0, unshaped = null } = meansOf(task) ?? {}
  return { finished, successes, unshaped, rows: [] as number[] }
}
