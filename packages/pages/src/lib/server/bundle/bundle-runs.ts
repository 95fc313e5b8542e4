import { plural } from '@episodic/report/text/format'
import type { EmbeddedRun, EmbeddedRuns } from '@episodic/report/view/embedded-runs'
import type { EpisodeStates } from '@episodic/report/view/state-changes'
import { HarnessError } from '@episodic/run/base/harness-error'
import { embedRun } from '../../file/embed-run.ts'
import { withheldFrom } from '../../file/render-report.ts'
import { compareShared, shareComparison } from './shared-comparison.ts'
import { type BundleOptions, openSharedRun, type SharedRun } from './shared-run.ts'

/**
 * Makes what a shared file holds: figures of all episodes that match, and as many of them whole as fit. Neither
 * commands nor folders of this machine are in it, except those in the configuration of a run.
 *
 * Rejects with `query-invalid`, with `run-invalid` for lines that are no sealed episodes, with `runs-differ` if no two
 * runs can be compared, and with `world-not-found` if states are asked for and no episode can be replayed.
 */
export async function bundleRuns(options: BundleOptions): Promise<EmbeddedRuns> {
  const { compared, flipped, without } = await compareShared(options)
  const shared: { readonly own: SharedRun; readonly run: EmbeddedRun }[] = []
  for (const found of options.runs) {
    const own = await openSharedRun(found, options, flipped)
    shared.push({ own, run: await bundleRun(own, options) })
  }
  const names = shared.map(({ run }) => run.detail.entry.name)
  const sentences = shared.flatMap(({ own, run }, i) =>
    [...own.left, ...withheldFrom(run.detail, Object.keys(run.lines).length)].map((sentence) =>
      names.length > 1 ? `${names[i]}: ${sentence}` : sentence,
    ),
  )
  return {
    format: 1,
    title: `${names.length === 1 ? names[0] : plural(names.length, 'run')} · Episodic`,
    runs: shared.map(({ run }) => run),
    compared: compared.map((one) => shareComparison(one, options, shared)),
    withheld: [...without, ...sentences, ...formatWithheld(options)],
  }
}

async function bundleRun(run: SharedRun, options: BundleOptions): Promise<EmbeddedRun> {
  const embedded = await embedRun(run.content)
  const texts = Object.entries(embedded.lines)
  const states = options.states === 'none' ? null : await replayLines(run, texts, options)
  const bytes = texts.reduce((sum, [, text]) => sum + text.length, 0)
  return {
    ...embedded,
    detail: run.detail(embedded.detail, bytes),
    words: embedded.words.map(run.words),
    ...(states && { states }),
  }
}

/** Computes the states of lines that are shared, by row. Rejects with `world-not-found` if none of them has any. */
async function replayLines(
  run: SharedRun,
  texts: readonly (readonly [row: string, text: string])[],
  { states, source }: BundleOptions,
): Promise<{ [row: string]: EpisodeStates }> {
  const sealedOf = await sealedByShared(run, new Set(texts.map(([, text]) => text)))
  const lines = texts.map(([, text]) => sealedOf.get(text) as string)
  const replayed = await source.statesOfLines(run.found, lines, states === 'all')
  const [first] = replayed
  if (first && replayed.every(({ source }) => source === 'unavailable'))
    throw new HarnessError('world-not-found', `No state of ${run.found.manifest.name} can be computed. ${first.why}`)
  return Object.fromEntries(
    texts.map(([row], i) => [row, run.states(replayed[i] as EpisodeStates, lines[i] as string)]),
  )
}

async function sealedByShared(run: SharedRun, wanted: ReadonlySet<string>): Promise<ReadonlyMap<string, string>> {
  const sealed = new Map<string, string>()
  for await (const pair of run.pairs()) if (wanted.has(pair.shared)) sealed.set(pair.shared, pair.sealed)
  return sealed
}

const PARTS: { readonly [part in BundleOptions['withhold'][number]]: string } = {
  seeds: 'seeds',
  params: 'parameters of tasks',
  prompts: 'prompts and what models were sent',
  private: 'private states',
}

function formatWithheld({ withhold, states }: BundleOptions): string[] {
  const parts = new Set(withhold)
  if (states === 'public') parts.add('private')
  const named = [...parts].map((part) => PARTS[part])
  return [
    ...(named.length > 0 ? [`Withheld: ${named.join(', ')}.`] : []),
    ...(withhold.length > 0
      ? ['The hashes of lines (chain, seal) are of what was sealed, not of what is left, which cannot be replayed.']
      : []),
  ]
}
