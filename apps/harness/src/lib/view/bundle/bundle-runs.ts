import type { EmbeddedRun, EmbeddedRuns, EpisodeStates } from '@episodic/report'
import { rowsByTask } from '../../evaluate/compare/compare-page.ts'
import { embedRun } from '../../run-folder/page/embed-run.ts'
import { replayShared } from './replay-shared.ts'
import { type Bundled, type BundleOptions, bundleAll, type SharedRun } from './shared-run.ts'

/**
 * Makes what a shared file holds: figures of all episodes that match, and as many of them whole as fit. Neither
 * commands nor folders of this machine are in it, except those in the configuration of a run.
 *
 * Rejects with `query-invalid`, with `run-invalid` for lines that are no sealed episodes, with `runs-differ` if no two
 * runs can be compared, and with `world-not-found` if states are asked for and no episode can be replayed.
 */
export function bundleRuns(options: BundleOptions): Promise<EmbeddedRuns> {
  return bundleAll(options, (run) => bundleRun(run, options))
}

async function bundleRun(run: SharedRun, options: BundleOptions): Promise<Bundled> {
  const embedded = await embedRun(run.content)
  const texts = Object.entries(embedded.lines)
  const replay = replayShared(run.found, options)
  const sealed = replay ? await readSealedTexts(run, Object.values(embedded.lines)) : []
  const states = await replay?.of(sealed)
  replay?.assertSome()
  const bytes = texts.reduce((sum, [, text]) => sum + text.length, 0)
  const shared: EmbeddedRun = {
    ...embedded,
    detail: run.detail(embedded.detail, bytes),
    words: embedded.words.map(run.words),
    ...(states && {
      states: Object.fromEntries(
        texts.map(([row], i) => [row, run.states(states[i] as EpisodeStates, sealed[i] as string)]),
      ),
    }),
  }
  return { run: shared, whole: texts.length, byTask: rowsByTask(shared) }
}

/** Returns lines as they were sealed, by their texts as they are shared. */
async function readSealedTexts(run: SharedRun, shared: readonly string[]): Promise<string[]> {
  const wanted = new Set(shared)
  const sealed = new Map<string, string>()
  for await (const pair of run.pairs()) if (wanted.has(pair.shared)) sealed.set(pair.shared, pair.sealed)
  return shared.map((text) => sealed.get(text) as string)
}
