import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readLines } from '@episodic/dataset/jsonl'
import type { JsonObject, SealedRecord } from '@episodic/protocol'
import {
  type ComparedRuns,
  type EmbeddedRun,
  type EmbeddedRuns,
  type EpisodeStates,
  formatCount,
  plural,
  sealedShape,
  type WithheldPart,
} from '@episodic/report'
import { flippedIn, withRows } from '../compare/compare-page.ts'
import { episodeKey } from '../compare/episode-key.ts'
import { gradesFileOf, readGrades } from '../grade/grades-file.ts'
import { HarnessError } from '../harness-error.ts'
import { matchingLines } from '../query/matching-lines.ts'
import { readRecorded } from '../replay/read-recorded.ts'
import { embedReport, withheldFrom } from '../report/page/render-report.ts'
import { createRunFold } from '../run/record/report-run.ts'
import { RUN_FILES } from '../run/record/run-folder.ts'
import { compareFolders } from '../view/folder/compare-folders.ts'
import type { FoundRun } from '../view/folder/find-runs.ts'
import { createStatesSource } from '../view/states/episode-states.ts'
import { WITHHELD, withholdFrom } from './withhold.ts'

/** What a shared file holds. */
export interface BundleOptions {
  readonly runs: readonly FoundRun[]
  /** Only episodes that match it. Default: all. */
  readonly query?: string | undefined
  /** Which states are in it, by replay. */
  readonly states: 'none' | 'public' | 'all'
  /** Worlds to replay with, besides those that are found by name. */
  readonly worlds: readonly string[]
  readonly withhold: readonly WithheldPart[]
  /** Runs that are compared, by their ids, the baseline first. */
  readonly compared: readonly (readonly string[])[]
  /** Most characters of whole episodes, shared equally by the runs. */
  readonly mostCharacters: number
  /** Called with the number of a torn last line, which is skipped. */
  readonly onTorn: (run: FoundRun, line: number) => void
}

/**
 * Makes what a shared file holds: figures of all episodes that match, and as many of them whole as fit. Neither commands nor
 * folders of this machine are in it, except those in the configuration of a run.
 *
 * Rejects with `query-invalid`, with `run-invalid` for lines that are no sealed episodes, with `runs-differ` for runs that cannot
 * be compared, and with `world-not-found` if states are asked for and no episode can be replayed.
 */
export async function bundleRuns(options: BundleOptions): Promise<EmbeddedRuns> {
  const { runs, withhold, compared: groups } = options
  const mostCharacters = Math.floor(options.mostCharacters / Math.max(1, runs.length))
  const compared: ComparedRuns[] = []
  for (const ids of groups)
    compared.push(await compareFolders({ runs: ids.flatMap((id) => runs.find((run) => run.id === id) ?? []) }))
  const flipped = new Set(compared.flatMap((one) => [...flippedIn(one)]))
  const embedded: EmbeddedRun[] = []
  const sentences: string[] = []
  for (const run of runs) {
    const [one, left] = await bundleRun(run, options, mostCharacters, flipped)
    embedded.push(one)
    sentences.push(...left.map((sentence) => (runs.length > 1 ? `${one.detail.entry.name}: ${sentence}` : sentence)))
  }
  const names = embedded.map(({ detail }) => detail.entry.name)
  return {
    format: 1,
    title: names.length === 1 ? `${names[0]} · Episodic` : `${plural(names.length, 'run')} · Episodic`,
    runs: embedded,
    compared: compared.map((one) => shareComparison(one, runs, embedded, withhold)),
    withheld: [...sentences, ...describeWithheld(options)],
  }
}

async function bundleRun(
  found: FoundRun,
  { query, states: wanted, worlds, withhold, onTorn }: BundleOptions,
  mostCharacters: number,
  flipped: ReadonlySet<string>,
): Promise<readonly [run: EmbeddedRun, left: readonly string[]]> {
  const { folder, id, set } = found
  const manifest = { ...found.manifest, name: sharedName(found, withhold) }
  const { configuration, versions, played, createdAt, name } = manifest
  const { seats, focus = '' } = configuration
  const file = join(folder, RUN_FILES.episodes)
  const allGrades = await readGrades(gradesFileOf(folder))
  const hasLines = existsSync(file)
  const selected =
    query !== undefined && hasLines
      ? await matchingLines({ file, grades: allGrades, seat: configuration.focus }, query)
      : null
  const isShared = (line: number) => selected?.has(line) ?? true
  const scheduled = selected ? undefined : manifest.scheduled
  const fold = createRunFold({ ...manifest, scheduled })
  const plays = new Set<string>()
  let all = 0
  for await (const { record, line } of readRecorded(file, { onTorn: (line) => onTorn(found, line) })) {
    all += 1
    if (!isShared(line)) continue
    fold.add(record)
    if (selected) plays.add(playOf(record.task.id, record.attempt, record.try))
  }
  const summary = fold.summarize()
  const embedded = await embedReport(
    summary,
    { name, scheduled, configuration: { ...configuration, ...played, ...versions } as unknown as JsonObject },
    {
      lines: () => sharedLines(file, isShared),
      mostCharacters,
      grades: selected
        ? allGrades.filter((grade) => plays.has(playOf(grade.task, grade.attempt, grade.try)))
        : allGrades,
      createdAt,
      id,
      seats: seats && [focus, ...Object.keys(seats).filter((seat) => seat !== focus)],
      goesFirst: ({ task, attempt }) => flipped.has(episodeKey(task, attempt)),
    },
  )
  const states = wanted === 'none' ? undefined : await statesOf(embedded.lines, found, worlds, wanted === 'all')
  const bytes = Object.values(embedded.lines).reduce((sum, text) => sum + text.length, 0)
  const { detail } = embedded
  const settings = withhold.includes('seeds') ? { ...detail.configuration, seed: WITHHELD } : detail.configuration
  const shared: EmbeddedRun = {
    ...embedded,
    detail: { ...detail, entry: { ...detail.entry, set, bytes }, configuration: settings },
    words: embedded.words.map((words) =>
      withhold.includes('prompts') ? { ...words, ...withoutPrompt(words) } : words,
    ),
    lines: mapValues(embedded.lines, (text) => withholdFromLine(text, name, withhold)),
    ...(states && { states }),
  }
  const left = [
    ...(selected
      ? [`Only the episodes that match ${query} are here: ${formatCount(selected.size)} of ${formatCount(all)}.`]
      : []),
    ...withheldFrom(shared),
  ]
  return [shared, left]
}

/** The name of a run: by default a folder's name ends in the seed, which may be withheld. */
function sharedName({ manifest: { name, configuration } }: FoundRun, withhold: readonly WithheldPart[]): string {
  const ending = `-${configuration.seed}`
  return withhold.includes('seeds') && name.endsWith(ending) ? name.slice(0, -ending.length) : name
}

async function* sharedLines(file: string, isShared: (line: number) => boolean): AsyncGenerator<string> {
  if (existsSync(file)) for await (const { line, text } of readLines(file)) if (isShared(line)) yield text
}

function withholdFromLine(text: string, run: string, withhold: readonly WithheldPart[]): string {
  if (withhold.length === 0) return text
  // It has been a row, so it has the shape of a line.
  const record = sealedShape(JSON.parse(text)) as SealedRecord
  return withholdFrom({ ...record, run }, withhold)
}

function withoutPrompt({ prompt, message }: EmbeddedRun['words'][number]) {
  return { prompt: '', message: prompt === '' ? message : (message?.replaceAll(prompt, WITHHELD) ?? null) }
}

function playOf(task: string, attempt: number, number: number): string {
  return JSON.stringify([task, attempt, number])
}

/** Replays whole episodes. Rejects with `world-not-found` if none of them has states. */
async function statesOf(
  lines: EmbeddedRun['lines'],
  found: FoundRun,
  worlds: readonly string[],
  seesPrivate: boolean,
): Promise<{ readonly [row: string]: EpisodeStates }> {
  const rows = Object.keys(lines)
  const texts = rows.map((row) => lines[row] as string)
  const replayed = await createStatesSource(worlds).statesOfLines(found, texts, seesPrivate)
  const states = rows.map((row, i) => [row, replayed[i] as EpisodeStates] as const)
  const [first] = states
  if (first && states.every(([, { source: from }]) => from === 'unavailable'))
    throw new HarnessError('world-not-found', `No state of ${found.manifest.name} can be computed. ${first[1].why}`)
  return Object.fromEntries(states)
}

/** Returns a comparison with the rows of the file, and without what is withheld. */
function shareComparison(
  compared: ComparedRuns,
  runs: readonly FoundRun[],
  embedded: readonly EmbeddedRun[],
  withhold: readonly WithheldPart[],
): ComparedRuns {
  const ordered = compared.runs.flatMap((id) => embedded.find(({ detail }) => detail.entry.id === id) ?? [])
  const shared = withRows(compared, ordered)
  if (!withhold.includes('seeds')) return shared
  const names = new Map(runs.map((run) => [run.manifest.name, sharedName(run, withhold)]))
  return JSON.parse(JSON.stringify(shared), (_, value) => {
    if (typeof value === 'string') return names.get(value) ?? value
    // A setting in which two runs differ.
    return value?.key === 'seed' ? { key: 'seed', a: WITHHELD, b: WITHHELD } : value
  })
}

const PARTS: { readonly [part in WithheldPart]: string } = {
  seeds: 'seeds',
  params: 'parameters of tasks',
  prompts: 'prompts and what models were sent',
  private: 'private states',
}

function describeWithheld({ withhold, states }: BundleOptions): string[] {
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

function mapValues<T, U>(values: { readonly [name: string]: T }, map: (value: T) => U): { readonly [name: string]: U } {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]))
}
