import { type ComparedRuns, type EmbeddedRun, plural } from '@episodic/report'
import { loadViewer } from '@episodic/viewer'
import { embedReport, withheldFrom } from '../../run-folder/page/render-report.ts'
import { foldRun, type RunPage } from '../../run-folder/record/report-run.ts'
import { readManifest } from '../../run-folder/record/run-folder.ts'
import { createPathScrub, scrubbed, textsIn } from '../../run-folder/scrub.ts'
import type { UnreadRun } from './compare-with-baseline.ts'
import type { ComparedRun } from './compared-run.ts'
import { comparedOf } from './compared-runs.ts'
import { episodeKey } from './episode-key.ts'

/** Most characters of whole lines in the page, of all runs together. */
const MOST_CHARACTERS = 10 * 1_048_576

/**
 * Renders the comparison of runs with the first one as a self-contained HTML page, which makes no requests. It has the
 * figures of all episodes, and step by step those that flipped, and as many others as fit.
 *
 * Resolves with the same text for the same runs, on one version of Node. Throws `runs-differ` if no two can be
 * compared.
 */
export async function renderComparedRuns(
  folders: readonly string[],
  runs: readonly (ComparedRun | UnreadRun)[],
): Promise<string> {
  const folds: (RunPage | null)[] = []
  for (const [i, folder] of folders.entries()) {
    const run = runs[i]
    const isRead = run !== undefined && 'tasks' in run
    folds.push(isRead ? await (await foldRun(folder, await readManifest(folder))).page() : null)
  }
  // A run that is compared with its own copy needs an address of its own.
  const ids = folds.map((fold, i) => {
    const { id = '' } = fold?.content ?? {}
    const isTaken = folds.slice(0, i).some((other) => other?.content.id === id)
    return isTaken ? `${id}${i}` : id
  })
  const compared = comparedOf(ids, runs)
  const flipped = flippedIn(compared)
  const embedded = new Map<string, EmbeddedRun>()
  for (const [i, fold] of folds.entries()) {
    if (!fold) continue
    const id = ids[i] as string
    const { summary, run, content } = fold
    const page = await embedReport(summary, run, {
      ...content,
      id,
      mostCharacters: Math.floor(MOST_CHARACTERS / folders.length),
      goesFirst: ({ task, attempt }) => flipped.has(episodeKey(task, attempt)),
    })
    embedded.set(id, page)
  }
  const withoutPaths = createPathScrub(folds.flatMap((fold) => [...textsIn(fold?.run.configuration)]))
  const { filePage } = await loadViewer()
  return filePage({
    format: 1,
    title: titleOf(scrubbed(compared, withoutPaths)),
    runs: [...embedded.values()],
    compared: [
      withRows(
        scrubbed(compared, withoutPaths),
        compared.runs.map((id) => rowsByTask(embedded.get(id) as EmbeddedRun)),
      ),
    ],
    withheld: [...embedded.values()].flatMap((run) =>
      withheldFrom(run.detail, Object.keys(run.lines).length).map((line) => `${run.detail.entry.name}: ${line}`),
    ),
  })
}

/** The keys of the episodes that one run solved and another did not. */
export function flippedIn({ comparisons }: ComparedRuns): ReadonlySet<string> {
  return new Set(
    comparisons.flatMap(({ episodes: { gained, lost } }) =>
      [...gained.flips, ...lost.flips].flatMap(({ task, taskInB = task, attempt }) => [
        episodeKey(task, attempt),
        episodeKey(taskInB, attempt),
      ]),
    ),
  )
}

function titleOf({ contrasts, comparisons: [comparison] }: ComparedRuns): string {
  const title = contrasts
    ? `${plural(contrasts.contrasts.length, 'run')} against ${contrasts.baseline}`
    : `${comparison?.b.name} against ${comparison?.a.name}`
  return `${title} · Episodic comparison`
}

/** The rows of a run by task, and the prompts of its tasks. */
export interface RowsByTask {
  rows(task: string): readonly number[]
  prompt(task: string): string
}

/** Returns the rows by task of a page. */
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
