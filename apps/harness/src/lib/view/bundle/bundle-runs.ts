import type { EmbeddedRun, EmbeddedRuns, EpisodeStates } from '@episodic/report'
import { rowsByTask } from '../../evaluate/compare/compare-page.ts'
import { embedRun } from '../../run-folder/page/embed-run.ts'
import { withheldFrom } from '../../run-folder/page/render-report.ts'
import type { Scrub } from '../../run-folder/scrub.ts'
import type { FoundRun } from '../folder/find-runs.ts'
import { replayShared } from './replay-shared.ts'
import {
  type BundleOptions,
  compareShared,
  formatWithheld,
  openSharedRun,
  type SharedRun,
  shareComparison,
  titleOf,
} from './shared-run.ts'

/**
 * Makes what a shared file holds: figures of all episodes that match, and as many of them whole as fit. Neither
 * commands nor folders of this machine are in it, except those in the configuration of a run.
 *
 * Rejects with `query-invalid`, with `run-invalid` for lines that are no sealed episodes, with `runs-differ` if no two
 * runs can be compared, and with `world-not-found` if states are asked for and no episode can be replayed.
 */
export async function bundleRuns(options: BundleOptions): Promise<EmbeddedRuns> {
  const { runs, withhold } = options
  const { compared, flipped, without } = await compareShared(options)
  const embedded: EmbeddedRun[] = []
  const sentences: string[] = []
  const scrubs: Scrub[] = []
  for (const run of runs) {
    const [one, left, scrub] = await bundleRun(run, options, flipped)
    embedded.push(one)
    scrubs.push(scrub)
    sentences.push(...left.map((sentence) => (runs.length > 1 ? `${one.detail.entry.name}: ${sentence}` : sentence)))
  }
  const rows = new Map(embedded.map((run) => [run.detail.entry.id, rowsByTask(run)]))
  return {
    format: 1,
    title: titleOf(embedded.map(({ detail }) => detail.entry.name)),
    runs: embedded,
    compared: compared.map((one) => shareComparison(one, runs, rows, withhold, scrubs)),
    withheld: [...without, ...sentences, ...formatWithheld(options)],
  }
}

async function bundleRun(
  found: FoundRun,
  options: BundleOptions,
  flipped: ReadonlySet<string>,
): Promise<readonly [run: EmbeddedRun, left: readonly string[], scrub: Scrub]> {
  const run = await openSharedRun(found, options, flipped)
  const embedded = await embedRun(run.content)
  const texts = Object.entries(embedded.lines)
  const replay = replayShared(found, options)
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
  return [shared, [...run.left, ...withheldFrom(shared.detail, texts.length)], run.scrub]
}

/** Returns lines as they were sealed, by their texts as they are shared. */
async function readSealedTexts(run: SharedRun, shared: readonly string[]): Promise<string[]> {
  const wanted = new Set(shared)
  const sealed = new Map<string, string>()
  for await (const pair of run.pairs()) if (wanted.has(pair.shared)) sealed.set(pair.shared, pair.sealed)
  return shared.map((text) => sealed.get(text) as string)
}
