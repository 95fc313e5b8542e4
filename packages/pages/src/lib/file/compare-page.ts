import type { UnreadRun } from '@episodic/analysis/compare/compare-with-baseline'
import type { ComparedRun } from '@episodic/analysis/compare/compared-run'
import { comparedOf } from '@episodic/analysis/compare/compared-runs'
import { plural } from '@episodic/report/text/format'
import type { ComparedRuns } from '@episodic/report/view/compared-runs'
import type { EmbeddedRun } from '@episodic/report/view/embedded-runs'
import { episodeKey } from '@episodic/run/folder/plan/planned-episode'
import { foldRun, type RunPage } from '@episodic/run/folder/record/report-run'
import { readManifest } from '@episodic/run/folder/record/run-folder'
import { createPathScrub, scrubbed, textsIn } from '@episodic/run/folder/scrub'
import { loadViewer } from '@episodic/viewer'
import { embedReport, withheldFrom } from './render-report.ts'

/** Most characters of whole lines in the page, of all runs together. */
const MOST_CHARACTERS = 10 * 1_048_576

export interface ComparedGroup {
  readonly folders: readonly string[]
  readonly runs: readonly (ComparedRun | UnreadRun)[]
}

/**
 * Renders the comparisons of groups of runs, such as those of the worlds of a set, as one self-contained HTML page,
 * which makes no requests. It has the figures of all episodes, and step by step those that flipped, and as many others
 * as fit.
 *
 * Resolves with the same text for the same runs, on one version of Node. Throws `runs-differ` if no two runs of a group
 * can be compared.
 *
 * @param without - in sentences, what else was asked for and cannot be compared.
 */
export async function renderComparedRuns(
  groups: readonly ComparedGroup[],
  without: readonly string[] = [],
): Promise<string> {
  const taken = new Set<string>()
  const prepared: Awaited<ReturnType<typeof prepareGroup>>[] = []
  for (const group of groups) prepared.push(await prepareGroup(group, taken))
  const flipped = flippedIn(prepared.map(({ compared }) => compared))
  const mostCharacters = Math.floor(MOST_CHARACTERS / taken.size)
  const embedded = new Map<string, EmbeddedRun>()
  for (const { folds, ids } of prepared)
    for (const [i, fold] of folds.entries()) {
      if (!fold) continue
      const id = ids[i] as string
      const { summary, run, content } = fold
      const goesFirst = ({ task, attempt }: { readonly task: string; readonly attempt: number }) =>
        flipped.has(episodeKey({ task: { id: task }, attempt }))
      embedded.set(id, await embedReport(summary, run, { ...content, id, mostCharacters, goesFirst }))
    }
  const withoutPaths = createPathScrub(
    prepared.flatMap(({ folds }) => folds.flatMap((fold) => [...textsIn(fold?.run.configuration)])),
  )
  const shown = prepared.map(({ compared }) => scrubbed(compared, withoutPaths))
  const { filePage } = await loadViewer()
  return filePage({
    format: 1,
    title: titleOf(shown),
    runs: [...embedded.values()],
    compared: shown.map((one) =>
      withRows(
        one,
        one.runs.map((id) => rowsByTask(embedded.get(id) as EmbeddedRun)),
      ),
    ),
    withheld: [
      ...without,
      ...[...embedded.values()].flatMap((run) =>
        withheldFrom(run.detail, Object.keys(run.lines).length).map((line) => `${run.detail.entry.name}: ${line}`),
      ),
    ],
  })
}

/**
 * Reads the runs of a group, each with an address of its own on the page.
 *
 * @param taken - the addresses so far; those of the group are added.
 */
async function prepareGroup({ folders, runs }: ComparedGroup, taken: Set<string>) {
  const folds: (RunPage | null)[] = []
  for (const [i, folder] of folders.entries()) {
    const run = runs[i]
    const isRead = run !== undefined && 'tasks' in run
    folds.push(isRead ? await (await foldRun(folder, await readManifest(folder))).page() : null)
  }
  const ids = folds.map((fold) => {
    const { id = '' } = fold?.content ?? {}
    // A run that is compared with its own copy needs an address of its own.
    const own = taken.has(id) ? `${id}${taken.size}` : id
    taken.add(own)
    return own
  })
  return { folds, ids, compared: comparedOf(ids, runs) }
}

export function flippedIn(compared: readonly ComparedRuns[]): ReadonlySet<string> {
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

function titleOf([first, ...others]: readonly ComparedRuns[]): string {
  const { contrasts, comparisons: [comparison] = [] } = first ?? {}
  const title =
    others.length > 0
      ? plural(others.length + 1, 'world')
      : contrasts
        ? `${plural(contrasts.contrasts.length, 'run')} against ${contrasts.baseline}`
        : `${comparison?.b.name} against ${comparison?.a.name}`
  return `${title} · Episodic comparison`
}

export interface RowsByTask {
  rows(task: string): readonly number[]
  prompt(task: string): string
}

export function rowsByTask({ words }: Pick<EmbeddedRun, 'words'>): RowsByTask {
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
export function withRows(compared: ComparedRuns, runs: readonly RowsByTask[]): ComparedRuns {
  return {
    ...compared,
    tasks: compared.tasks.map((task) => ({
      ...task,
      prompt: runs[0]?.prompt(task.task) ?? '',
      runs: task.runs.map((run, i) => ({ ...run, rows: runs[i]?.rows(task.task) ?? [] })),
    })),
  }
}
