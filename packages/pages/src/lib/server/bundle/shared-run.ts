import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readLines } from '@episodic/dataset/jsonl'
import type { JsonObject, SealedRecord } from '@episodic/protocol'
import { sealedShape } from '@episodic/report/rows/sealed-shape'
import { formatCount } from '@episodic/report/text/format'
import type { RowWords, RunDetail } from '@episodic/report/view/run-entry'
import type { EpisodeStates } from '@episodic/report/view/state-changes'
import type { WithheldPart } from '@episodic/report/view/withheld'
import { gradesFileOf, readGrades } from '@episodic/run/folder/grades-file'
import { matchingLines } from '@episodic/run/folder/matching-lines'
import { episodeKey } from '@episodic/run/folder/plan/planned-episode'
import { readRecorded } from '@episodic/run/folder/read-recorded'
import { createRunFold } from '@episodic/run/folder/record/report-run'
import { RUN_FILES } from '@episodic/run/folder/record/run-folder'
import { readStop } from '@episodic/run/folder/record/stop-file'
import { createPathScrub, createScrub, type Scrub, scrubbed, textsIn, WITHHELD } from '@episodic/run/folder/scrub'
import { reportContent } from '../../file/render-report.ts'
import type { FoundRun } from '../folder/find-runs.ts'
import type { StatesSource } from '../states-source.ts'
import { secretsOf, withholdFrom, withholdFromGrade } from './withhold.ts'

export interface BundleOptions {
  readonly runs: readonly FoundRun[]
  /** Only episodes that match it. Default: all. */
  readonly query?: string | undefined
  /** Which states are in it, by replay. */
  readonly states: 'none' | 'public' | 'all'
  readonly source: StatesSource
  readonly withhold: readonly WithheldPart[]
  readonly compared: readonly (readonly string[])[]
  /** Most characters of whole episodes, shared equally by the runs. */
  readonly mostCharacters: number
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
export async function openSharedRun(
  found: FoundRun,
  { query, withhold, onTorn, runs, mostCharacters }: BundleOptions,
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
    left: selected
      ? [
          `Only the episodes that match ${scrubbed(query, scrubAll)} are here: ${formatCount(selected.size)} of ${formatCount(all)}.`,
        ]
      : [],
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
    pairs,
    states: (states: EpisodeStates, sealed: string) => {
      const record = sealedShape(JSON.parse(sealed)) as SealedRecord
      return scrubbed(scrubbed(states, createScrub(secretsOf(record, withhold))), scrub)
    },
    /** Takes the seed of the run, if seeds are withheld, and the folders of this machine out of JSON. */
    scrub,
  }
}

/** The name of a run: by default a folder's name ends in the seed, which may be withheld. */
export function sharedName({ manifest: { name, configuration } }: FoundRun, withhold: readonly WithheldPart[]): string {
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
