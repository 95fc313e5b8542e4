import { MOST_COMPARED } from '@episodic/analysis/compare/compared-runs'
import type { ComparedRuns } from '@episodic/report/view/compared-runs'
import { HttpProblem } from '../http-problem.ts'
import type { ViewedRun } from './viewed-run.ts'
import type { ViewedRuns } from './viewed-runs.ts'

const MOST_PROMPTS = 200

/**
 * Compares runs by their ids.
 *
 * @param base - the baseline. Default: the first.
 */
export async function compareRunsById(runs: ViewedRuns, ids: readonly string[], base = ids[0]): Promise<ComparedRuns> {
  const distinct = [...new Set(ids)]
  if (distinct.length < 2 || distinct.length > MOST_COMPARED)
    throw new HttpProblem('invalid', `Compare 2 to ${MOST_COMPARED} different runs.`)
  if (base === undefined || !distinct.includes(base))
    throw new HttpProblem('invalid', 'The baseline is none of the compared runs.')
  const ordered = [base, ...distinct.filter((id) => id !== base)].map((id) => runs.get(id))
  const compared = await runs.thread.run('compare', {
    runs: ordered.map(({ found: { id, folder } }) => ({ id, folder })),
  })
  const tasks = compared.tasks.map(({ task }) => task)
  // In the order of the comparison, without those that are left out.
  const shown = compared.runs.map((id) => runs.get(id))
  const rows = await Promise.all(shown.map(async (run) => (await run.rows(true)).ofTasks(tasks)))
  const prompts = await readPrompts(shown[0] as ViewedRun, rows[0] as ReadonlyMap<string, readonly number[]>, tasks)
  return {
    ...compared,
    tasks: compared.tasks.map((one) => ({
      ...one,
      prompt: prompts.get(one.task) ?? '',
      runs: one.runs.map((figures, i) => ({ ...figures, rows: rows[i]?.get(one.task) ?? [] })),
    })),
  }
}

async function readPrompts(
  run: ViewedRun,
  rows: ReadonlyMap<string, readonly number[]>,
  tasks: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const firsts = tasks.slice(0, MOST_PROMPTS).flatMap((task) => rows.get(task)?.[0] ?? [])
  const words = await (await run.rows()).words(firsts)
  return new Map(words.map(({ task, prompt }) => [task, prompt]))
}
