import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readLines } from '@episodic/dataset/jsonl'
import type { JsonObject, SealedRecord } from '@episodic/protocol'
import {
  type ComparedRuns,
  formatCount,
  plural,
  type RowWords,
  type RunDetail,
  sealedShape,
  type WithheldPart,
} from '@episodic/report'
import { flippedIn, type RowsByTask, withRows } from '../compare/compare-page.ts'
import { episodeKey } from '../compare/episode-key.ts'
import { gradesFileOf, readGrades } from '../grade/grades-file.ts'
import { HarnessError } from '../harness-error.ts'
import { matchingLines } from '../query/matching-lines.ts'
import { readRecorded } from '../replay/read-recorded.ts'
import type { EmbeddedContent } from '../report/page/embed-run.ts'
import { reportContent } from '../report/page/render-report.ts'
import { createRunFold } from '../run/record/report-run.ts'
import { RUN_FILES } from '../run/record/run-folder.ts'
import { readStop } from '../run/record/stop-file.ts'
import { compareFolders } from '../view/folder/compare-folders.ts'
import type { FoundRun } from '../view/folder/find-runs.ts'
import { WITHHELD, withholdFrom } from './withhold.ts'

/** What is to be shared. */
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
  /** Most characters of whole episodes, shared equally by the runs. Default: all of them. */
  readonly mostCharacters?: number | undefined
  /** Called with the number of a torn last line, which is skipped. */
  readonly onTorn: (run: FoundRun, line: number) => void
  /** Called with each run and each world that cannot be compared, in a sentence. */
  readonly onProblem: (problem: string) => void
}

/** A run to share: what is left of it, and what takes out what is withheld. */
export interface SharedRun {
  readonly found: FoundRun
  /** What a page says of it, from the episodes that match the query. */
  readonly content: EmbeddedContent
  /** What was left out by the query, in sentences. */
  readonly left: readonly string[]
  /** @param bytes - those of the lines that are shared. */
  detail(detail: RunDetail, bytes: number): RunDetail
  words(words: RowWords): RowWords
  /** Returns the text of a line as it is shared. */
  line(text: string): string
}

/**
 * Reads a run once, and returns what is shared of it.
 *
 * Rejects with `query-invalid`, and with `run-invalid` for lines that are no sealed episodes.
 *
 * @param flipped - the keys of episodes that a comparison names, which go before others.
 */
export async function openSharedRun(
  found: FoundRun,
  { query, withhold, onTorn, runs, mostCharacters = Number.POSITIVE_INFINITY }: BundleOptions,
  flipped: ReadonlySet<string>,
): Promise<SharedRun> {
  const { folder, id, set } = found
  const manifest = { ...found.manifest, name: sharedName(found, withhold) }
  const { configuration, versions, createdAt, name } = manifest
  // How to reach the model, and what was redacted, is nobody else's.
  const { modelOptions: _, ...played } = manifest.played
  const stop = await readStop(folder)
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
  const content = reportContent(
    fold.summarize(),
    { name, scheduled, configuration: { ...configuration, ...played, ...versions } as unknown as JsonObject },
    {
      lines: () => sharedLines(file, isShared),
      mostCharacters: Math.floor(mostCharacters / Math.max(1, runs.length)),
      grades: selected
        ? allGrades.filter((grade) => plays.has(playOf(grade.task, grade.attempt, grade.try)))
        : allGrades,
      createdAt,
      id,
      // A message may quote what the model was sent.
      stopped: stop && withhold.length > 0 ? { ...stop, message: WITHHELD } : (stop ?? undefined),
      seats: seats && [focus, ...Object.keys(seats).filter((seat) => seat !== focus)],
      goesFirst: ({ task, attempt }) => flipped.has(episodeKey(task, attempt)),
    },
  )
  return {
    found,
    content,
    left: selected
      ? [`Only the episodes that match ${query} are here: ${formatCount(selected.size)} of ${formatCount(all)}.`]
      : [],
    detail: (detail, bytes) => ({
      ...detail,
      entry: { ...detail.entry, set, bytes },
      configuration: withhold.includes('seeds') ? { ...detail.configuration, seed: WITHHELD } : detail.configuration,
    }),
    words: (words) => (withhold.includes('prompts') ? { ...words, ...withoutPrompt(words) } : words),
    line: (text) => withholdFromLine(text, name, withhold),
  }
}

/**
 * Compares the runs of each group. `without` says in sentences which groups cannot be compared.
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
  return { compared: results, flipped: new Set(results.flatMap((one) => [...flippedIn(one)])), without }
}

/** The title of the pages that show runs of these names. */
export function titleOf(names: readonly string[]): string {
  return names.length === 1 ? `${names[0]} · Episodic` : `${plural(names.length, 'run')} · Episodic`
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

function withoutPrompt({ prompt, message }: RowWords) {
  return { prompt: '', message: prompt === '' ? message : (message?.replaceAll(prompt, WITHHELD) ?? null) }
}

function playOf(task: string, attempt: number, number: number): string {
  return JSON.stringify([task, attempt, number])
}

/**
 * Returns a comparison with the rows of what is shared, and without what is withheld.
 *
 * @param rowsOf - by the ids of the runs.
 */
export function shareComparison(
  compared: ComparedRuns,
  runs: readonly FoundRun[],
  rowsOf: ReadonlyMap<string, RowsByTask>,
  withhold: readonly WithheldPart[],
): ComparedRuns {
  const shared = withRows(
    compared,
    compared.runs.flatMap((id) => rowsOf.get(id) ?? []),
  )
  if (withhold.length === 0) return shared
  const names = new Map(
    withhold.includes('seeds') ? runs.map((run) => [run.manifest.name, sharedName(run, withhold)]) : [],
  )
  return JSON.parse(JSON.stringify(shared), (key, value) => {
    // Why a run is left out may quote a seed, or what a model was sent.
    if (key === 'why') return WITHHELD
    if (typeof value === 'string') return names.get(value) ?? value
    // A setting in which two runs differ.
    return withhold.includes('seeds') && value?.key === 'seed' ? { key: 'seed', a: WITHHELD, b: WITHHELD } : value
  })
}

const PARTS: { readonly [part in WithheldPart]: string } = {
  seeds: 'seeds',
  params: 'parameters of tasks',
  prompts: 'prompts and what models were sent',
  private: 'private states',
}

/** Says what is withheld, in sentences. */
export function describeWithheld({ withhold, states }: Pick<BundleOptions, 'withhold' | 'states'>): string[] {
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
