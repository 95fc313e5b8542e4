import { noteAnchors } from '@episodic/report/anchors/anchors'
import type { ComparedRuns } from '@episodic/report/view/compared-runs'
import type { EmbeddedRun } from '@episodic/report/view/embedded-runs'
import { HarnessError } from '@episodic/run/base/harness-error'
import { readAnchors } from '@episodic/run/folder/anchors/anchors-file'
import { episodeKey } from '@episodic/run/folder/plan/planned-episode'
import { scrubbed, WITHHELD } from '@episodic/run/folder/scrub'
import { compareFolders } from '../folder/compare-folders.ts'
import { type BundleOptions, type SharedRun, sharedName } from './shared-run.ts'

/**
 * Compares the runs of each group. `without` says in sentences which cannot be compared, and the anchors of the others.
 *
 * Rejects with `runs-differ` if none can.
 */
export async function compareShared({ runs, compared, withhold, onProblem }: BundleOptions) {
  const results: ComparedRuns[] = []
  const without: string[] = []
  const problems: string[] = []
  let last: unknown = null
  for (const ids of compared) {
    const group = ids.flatMap((id) => runs.find((run) => run.id === id) ?? [])
    const world = group[0]?.manifest.configuration.environment.name ?? ''
    try {
      const result = await compareFolders({ runs: group })
      results.push(result)
      const anchors = group[0] && (await readAnchors(group[0].folder))
      if (anchors) without.push(`${world}: ${noteAnchors(anchors, '')}`)
      for (const { name, why } of result.leftOut) problems.push(`${world}: ${name} is not compared. ${why}`)
    } catch (error) {
      if (!HarnessError.is(error, 'runs-differ')) throw error
      last = error
      const why = error.message.replace(/\s+/g, ' ')
      problems.push(`${world} is not compared. ${why}`)
      without.push(`The runs of ${world} are not compared. ${withhold.length > 0 ? WITHHELD : why}`)
    }
  }
  if (results.length === 0 && last !== null) throw last
  for (const problem of problems) onProblem(problem)
  return { compared: results, flipped: flippedIn(results), without }
}

/** Returns a comparison with the rows of the runs that are shared, and without what is withheld. */
export function shareComparison(
  compared: ComparedRuns,
  { runs, withhold }: BundleOptions,
  shared: readonly { readonly own: SharedRun; readonly run: EmbeddedRun }[],
): ComparedRuns {
  const byId = new Map(shared.map(({ own, run }) => [own.found.id, run]))
  const whole = withRows(compared, compared.runs.flatMap((id) => byId.get(id) ?? []).map(rowsByTask))
  const scrub = (one: ComparedRuns) => shared.reduce((left, { own }) => scrubbed(left, own.scrub), one)
  if (withhold.length === 0) return scrub(whole)
  const withholdsSeeds = withhold.includes('seeds')
  const names = new Map(withholdsSeeds ? runs.map((run) => [run.manifest.name, sharedName(run, withhold)]) : [])
  return scrub(
    JSON.parse(JSON.stringify(whole), (key, value) => {
      // Why a run is left out may quote a seed, or what a model was sent.
      if (key === 'why') return WITHHELD
      if (typeof value === 'string') return names.get(value) ?? value
      // A setting in which two runs differ.
      return withholdsSeeds && value?.key === 'seed' ? { key: 'seed', a: WITHHELD, b: WITHHELD } : value
    }),
  )
}

function flippedIn(compared: readonly ComparedRuns[]): ReadonlySet<string> {
  return new Set(
    compared
      .flatMap(({ comparisons }) => comparisons)
      .flatMap(({ episodes: { gained, lost } }) =>
        [...gained.flips, ...lost.flips].flatMap(({ task, taskInB = task, attempt }) => [
          episodeKey({ task: { id: task }, attempt }),
          episodeKey({ task: { id: taskInB }, attempt }),
        ]),
      ),
  )
}

interface RowsByTask {
  rows(task: string): readonly number[]
  prompt(task: string): string
}

function rowsByTask({ words }: Pick<EmbeddedRun, 'words'>): RowsByTask {
  const byTask = Map.groupBy(words, ({ task }) => task)
  return {
    rows: (task) => byTask.get(task)?.map(({ row }) => row) ?? [],
    prompt: (task) => byTask.get(task)?.[0]?.prompt ?? '',
  }
}

/**
 * Adds the prompts and the rows of the tasks.
 *
 * @param runs - those that are compared, in the order of the comparison.
 */
function withRows(compared: ComparedRuns, runs: readonly RowsByTask[]): ComparedRuns {
  return {
    ...compared,
    tasks: compared.tasks.map((task) => ({
      ...task,
      prompt: runs[0]?.prompt(task.task) ?? '',
      runs: task.runs.map((run, i) => ({ ...run, rows: runs[i]?.rows(task.task) ?? [] })),
    })),
  }
}
