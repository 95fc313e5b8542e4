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
  type RowWords,
  type RunDetail,
  sealedShape,
  type WithheldPart,
} from '@episodic/report'
import { HarnessError } from '../../base/harness-error.ts'
import { flippedIn, type RowsByTask, withRows } from '../../evaluate/compare/compare-page.ts'
import { episodeKey } from '../../play/plan/plan.ts'
import { gradesFileOf, readGrades } from '../../run-folder/grades-file.ts'
import { matchingLines } from '../../run-folder/matching-lines.ts'
import { reportContent, withheldFrom } from '../../run-folder/page/render-report.ts'
import { readRecorded } from '../../run-folder/read-recorded.ts'
import { createRunFold } from '../../run-folder/record/report-run.ts'
import { RUN_FILES } from '../../run-folder/record/run-folder.ts'
import { readStop } from '../../run-folder/record/stop-file.ts'
import { createPathScrub, createScrub, type Scrub, scrubbed, textsIn, WITHHELD } from '../../run-folder/scrub.ts'
import { compareFolders } from '../folder/compare-folders.ts'
import type { FoundRun } from '../folder/find-runs.ts'
import { secretsOf, withholdFrom, withholdFromGrade } from './withhold.ts'

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
export type SharedRun = Awaited<ReturnType<typeof openSharedRun>>

/**
 * Reads a run once, and returns what is shared of it.
 *
 * Rejects with `query-invalid`, and with `run-invalid` for lines that are no sealed episodes.
 *
 * @param flipped - the keys of episodes that a comparison names, which go before others.
 */
async function openSharedRun(
  found: FoundRun,
  { query, withhold, onTorn, runs, mostCharacters = Number.POSITIVE_INFINITY }: BundleOptions,
  flipped: ReadonlySet<string>,
) {
  const { folder, id, set, member } = found
  const manifest = { ...found.manifest, name: sharedName(found, withhold) }
  const { configuration, versions, createdAt, name } = manifest
  const environment = `${configuration.environment.name}@${configuration.environment.version}`
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
  const ofRun = withhold.includes('seeds') ? [configuration.seed] : []
  const secrets = new Set<string>(ofRun)
  const withoutSeed = createScrub(ofRun)
  const withoutPaths = createPathScrub([folder, ...textsIn(configuration)])
  // A name may have more of what is withheld than its seed: that is known once all lines were read.
  let shownName = name
  const share = (text: string) => withoutPaths(withoutSeed(withholdFromLine(text, shownName, withhold)))
  let all = 0
  for await (const { record, line } of readRecorded(file, { onTorn: (line) => onTorn(found, line) })) {
    all += 1
    if (!isShared(line)) continue
    const shared = share(JSON.stringify(record))
    // Figures quote what lines say: they are of the lines that are shared.
    fold.add(sealedShape(JSON.parse(shared)) as SealedRecord, shared)
    for (const secret of secretsOf(record, withhold)) secrets.add(secret)
    if (selected) plays.add(toPlayKey(record.task.id, record.attempt, record.try))
  }
  const scrub: Scrub = (json) => withoutPaths(withoutSeed(json))
  const withoutSecrets = createScrub(secrets)
  const scrubAll: Scrub = (json) => withoutPaths(withoutSecrets(json))
  shownName = scrubbed(name, scrubAll)
  async function* pairs() {
    for await (const sealed of sharedLines(file, isShared)) yield { sealed, shared: share(sealed) }
  }
  async function* lines(): AsyncGenerator<string> {
    for await (const { shared } of pairs()) yield shared
  }
  const shownGrades = selected
    ? allGrades.filter((grade) => plays.has(toPlayKey(grade.task, grade.attempt, grade.try)))
    : allGrades
  const content = reportContent(
    fold.summarize(),
    {
      name: shownName,
      scheduled,
      configuration: scrubbed({ ...configuration, ...played, ...versions } as unknown as JsonObject, scrubAll),
    },
    {
      lines,
      mostCharacters: Math.floor(mostCharacters / Math.max(1, runs.length)),
      grades: shownGrades.map((grade) => scrubbed(withholdFromGrade({ ...grade, run: shownName }, withhold), scrub)),
      createdAt,
      id,
      // A message may quote what the model was sent.
      stopped: stop && withhold.length > 0 ? { ...stop, message: WITHHELD } : (stop ?? undefined),
      seats: seats && [focus, ...Object.keys(seats).filter((seat) => seat !== focus)],
      goesFirst: ({ task, attempt }) => flipped.has(episodeKey({ task: { id: task }, attempt })),
    },
  )
  return {
    found,
    /** What a page says of it, from the episodes that match the query. */
    content,
    /** What was left out by the query, in sentences. */
    left: selected
      ? [
          `Only the episodes that match ${scrubbed(query, scrubAll)} are here: ${formatCount(selected.size)} of ${formatCount(all)}.`,
        ]
      : [],
    /** @param bytes - those of the lines that are shared. */
    detail: (detail: RunDetail, bytes: number): RunDetail =>
      scrubbed(
        {
          ...detail,
          // Also of a run without a line, which belongs to its world all the same.
          entry: { ...detail.entry, set, ...(member && { member }), environments: [environment], bytes },
          configuration: withhold.includes('seeds')
            ? { ...detail.configuration, seed: WITHHELD }
            : detail.configuration,
        },
        scrubAll,
      ),
    words: (words: RowWords): RowWords =>
      withhold.includes('prompts') ? { ...words, ...withoutPrompt(words) } : words,
    /** Reads the lines that are shared, each as it was sealed and as it is shared. */
    pairs,
    /** Returns the states of a line as they are shared. */
    states: (states: EpisodeStates, sealed: string) => {
      const record = sealedShape(JSON.parse(sealed)) as SealedRecord
      return scrubbed(scrubbed(states, createScrub(secretsOf(record, withhold))), scrub)
    },
    /** Takes the seed of the run, if seeds are withheld, and the folders of this machine out of JSON. */
    scrub,
  }
}

/**
 * Compares the runs of each group. `without` says in sentences which groups cannot be compared.
 *
 * Rejects with `runs-differ` if none can.
 */
async function compareShared({ runs, compared, withhold, onProblem }: BundleOptions) {
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
  return { compared: results, flipped: flippedIn(results), without }
}

/** What is shared of one run. */
export interface Bundled {
  readonly run: EmbeddedRun
  /** Episodes that are there with their whole line. */
  readonly whole: number
  readonly byTask: RowsByTask
}

/**
 * Makes what is shared, one run after the other.
 *
 * @param bundle - makes what is shared of a run; `compared` is what its pages compare.
 */
export async function bundleAll(
  options: BundleOptions,
  bundle: (run: SharedRun, compared: readonly ComparedRuns[]) => Promise<Bundled>,
): Promise<EmbeddedRuns> {
  const { runs, withhold } = options
  const { compared, flipped, without } = await compareShared(options)
  const bundled: EmbeddedRun[] = []
  const sentences: string[] = []
  const rows = new Map<string, RowsByTask>()
  const scrubs: Scrub[] = []
  for (const found of runs) {
    const shared = await openSharedRun(found, options, flipped)
    scrubs.push(shared.scrub)
    const { run, whole, byTask } = await bundle(shared, compared)
    bundled.push(run)
    rows.set(found.id, byTask)
    const left = [...shared.left, ...withheldFrom(run.detail, whole)]
    sentences.push(...left.map((sentence) => (runs.length > 1 ? `${run.detail.entry.name}: ${sentence}` : sentence)))
  }
  return {
    format: 1,
    title: titleOf(bundled.map(({ detail }) => detail.entry.name)),
    runs: bundled,
    compared: compared.map((one) => shareComparison(one, runs, rows, withhold, scrubs)),
    withheld: [...without, ...sentences, ...formatWithheld(options)],
  }
}

/** The title of the pages that show runs of these names. */
function titleOf(names: readonly string[]): string {
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

function toPlayKey(task: string, attempt: number, number: number): string {
  return JSON.stringify([task, attempt, number])
}

/**
 * Returns a comparison with the rows of what is shared, and without what is withheld.
 *
 * @param rowsOf - by the ids of the runs.
 */
function shareComparison(
  compared: ComparedRuns,
  runs: readonly FoundRun[],
  rowsOf: ReadonlyMap<string, RowsByTask>,
  withhold: readonly WithheldPart[],
  scrubs: readonly Scrub[],
): ComparedRuns {
  const whole = withRows(
    compared,
    compared.runs.flatMap((id) => rowsOf.get(id) ?? []),
  )
  if (withhold.length === 0) return scrubs.reduce(scrubbed<ComparedRuns>, whole)
  const names = new Map(
    withhold.includes('seeds') ? runs.map((run) => [run.manifest.name, sharedName(run, withhold)]) : [],
  )
  const shared: ComparedRuns = JSON.parse(JSON.stringify(whole), (key, value) => {
    // Why a run is left out may quote a seed, or what a model was sent.
    if (key === 'why') return WITHHELD
    if (typeof value === 'string') return names.get(value) ?? value
    // A setting in which two runs differ.
    return withhold.includes('seeds') && value?.key === 'seed' ? { key: 'seed', a: WITHHELD, b: WITHHELD } : value
  })
  return scrubs.reduce(scrubbed<ComparedRuns>, shared)
}

const PARTS: { readonly [part in WithheldPart]: string } = {
  seeds: 'seeds',
  params: 'parameters of tasks',
  prompts: 'prompts and what models were sent',
  private: 'private states',
}

/** Says what is withheld, in sentences. */
function formatWithheld({ withhold, states }: Pick<BundleOptions, 'withhold' | 'states'>): string[] {
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
