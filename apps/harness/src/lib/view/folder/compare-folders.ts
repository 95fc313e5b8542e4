import type { ComparedRuns } from '@episodic/report'
import { type ComparedRun, compareRuns } from '../../compare/compare-runs.ts'
import { contrastRuns } from '../../compare/contrast-runs.ts'
import { readComparedRun } from '../../compare/read-compared-run.ts'

/** Runs to compare, the baseline first. */
export interface ComparedFolders {
  readonly runs: readonly { readonly id: string; readonly folder: string }[]
}

const MOST_TASKS = 2_000

/**
 * Compares runs as the command `compare` does. The prompts and the rows of the tasks are left empty.
 *
 * Rejects with `runs-differ` if they cannot be compared, and with `run-invalid`.
 */
export async function compareFolders({ runs }: ComparedFolders): Promise<ComparedRuns> {
  const compared: ComparedRun[] = []
  for (const { folder } of runs) compared.push(await readComparedRun(folder))
  const [baseline, ...others] = compared as [ComparedRun, ...ComparedRun[]]
  return {
    baseline: runs[0]?.id ?? '',
    runs: runs.map(({ id }) => id),
    contrasts: compared.length > 2 ? contrastRuns(compared) : null,
    comparisons: others.map((other) => compareRuns(baseline, other)),
    tasks: tasksOf(compared),
  }
}

function tasksOf(compared: readonly ComparedRun[]): ComparedRuns['tasks'] {
  const [baseline, ...others] = compared
  const shared = [...(baseline?.tasks.keys() ?? [])].filter((id) => others.every(({ tasks }) => tasks.has(id)))
  const described = shared.map((task) => {
    const runs = compared.map(({ tasks }) => figuresOf(tasks.get(task)))
    const means = runs.flatMap(({ unshaped }) => unshaped ?? [])
    const difference = means.length > 1 ? Math.max(...means) - Math.min(...means) : 0
    return { task, prompt: '', runs, difference }
  })
  return described
    .sort((a, b) => b.difference - a.difference || (a.task < b.task ? -1 : 1))
    .slice(0, MOST_TASKS)
    .map(({ difference: _, ...task }) => task)
}

function figuresOf(task: ReturnType<ComparedRun['tasks']['get']>) {
  const finished = [...(task?.plays.values() ?? [])].filter(({ failed }) => !failed)
  const sum = finished.reduce((total, { unshaped }) => total + unshaped, 0)
  return {
    finished: finished.length,
    successes: finished.filter(({ outcome }) => outcome === 'succeeded').length,
    unshaped: finished.length > 0 ? sum / finished.length : null,
    rows: [] as number[],
  }
}
