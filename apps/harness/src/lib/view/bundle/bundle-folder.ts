import type { SealedRecord } from '@episodic/protocol'
import {
  type EmbeddedRuns,
  type EpisodeStates,
  encodeColumns,
  packStaticIndex,
  type RowWords,
  rowWords,
  STATIC_FILES,
  type StaticRuns,
  sealedShape,
} from '@episodic/report'
import type { RowsByTask } from '../../evaluate/compare/compare-page.ts'
import { type EmbeddedRows, embedRows } from '../../run-folder/page/embed-run.ts'
import type { SecretCheck } from '../../run-folder/secret-check.ts'
import type { BundleCount } from './describe-bundle.ts'
import { replayShared } from './replay-shared.ts'
import { type Bundled, type BundleOptions, bundleAll, type SharedRun } from './shared-run.ts'
import type { StaticFolder } from './static-folder.ts'

/** Rows in a file of words: some of them are shown at once. */
const WORDS_PER_FILE = 500
/**
 * Characters in a file of lines, before compression; a longer line has a file of its own. A page reads one for an
 * episode.
 */
const LINE_CHARACTERS = 262_144
const MOST_LINES = 200

/** What sees each episode while it is written. */
interface Watched {
  readonly count: BundleCount
  readonly secrets: SecretCheck
}

/**
 * Writes what a shared folder holds, see {@link StaticRuns}: the same as a shared file, with all episodes whole by
 * default. One file of lines at a time is in memory. Resolves with what the page says without its files: neither words
 * nor lines.
 *
 * Rejects as `bundleRuns` does, with `secret-found`, and with `disk-failed`.
 */
export async function bundleFolder(
  options: BundleOptions,
  folder: StaticFolder,
  { count, secrets }: Watched,
): Promise<EmbeddedRuns> {
  const content = await bundleAll(options, (shared, compared) => {
    const named = new Set(compared.flatMap(({ tasks }) => tasks.map(({ task }) => task)))
    return writeRun(shared, options, folder, { count, secrets }, named)
  })
  await writeAll(content, options, folder)
  const { runs: _, ...rest } = content
  secrets.rest(rest)
  secrets.assertNone()
  return content
}

/** Writes the files that are of several runs. */
async function writeAll(
  { title, runs, compared, withheld }: EmbeddedRuns,
  options: BundleOptions,
  folder: StaticFolder,
) {
  for (const [i, one] of compared.entries()) await folder.write(STATIC_FILES.compared(i), JSON.stringify(one))
  const content: StaticRuns = {
    format: 1,
    title,
    runs: runs.map(({ detail }) => detail.entry),
    compared: compared.map(({ runs, baseline, leftOut }) => ({ runs, baseline, leftOut })),
    states: options.states !== 'none',
    withheld,
  }
  await folder.write(STATIC_FILES.runs, JSON.stringify(content))
}

/** @param named - the tasks whose prompts a comparison shows. */
async function writeRun(
  shared: SharedRun,
  options: BundleOptions,
  folder: StaticFolder,
  { count, secrets }: Watched,
  named: ReadonlySet<string>,
): Promise<Bundled> {
  const { found, content } = shared
  const { id } = found
  // In files of bounded size, all of them fit.
  const rows = await embedRows({ ...content, mostRows: Number.POSITIVE_INFINITY })
  const { name } = rows.detail.entry
  const lines = createLineFiles(shared, options, folder)
  const places = new Uint32Array(rows.detail.rows)
  const prompts = new Map<string, string>()
  let words: RowWords[] = []
  let place = 0
  const writeWords = async () => {
    const number = Math.floor((place - 1) / WORDS_PER_FILE)
    if (words.length > 0) await folder.write(STATIC_FILES.words(id, number), JSON.stringify(words))
    words = []
  }
  let line = -1
  let bytes = 0
  for await (const { sealed, shared: own } of shared.pairs()) {
    line += 1
    const row = rows.rows[line] ?? -1
    if (row < 0) continue
    const ofRow = shared.words({ row, ...rowWords(sealedShape(JSON.parse(own)) as SealedRecord) })
    const text = rows.whole.has(row) ? own : null
    const value = text === null ? null : JSON.parse(text)
    secrets.episode(name, ofRow, value)
    if (value) count.add(value)
    if (named.has(ofRow.task) && !prompts.has(ofRow.task)) prompts.set(ofRow.task, ofRow.prompt)
    for (const [states, of] of await lines.add(text === null ? null : { sealed, text, words: ofRow }))
      secrets.states(name, of, states)
    bytes += text?.length ?? 0
    words.push(ofRow)
    places[row] = place
    place += 1
    if (words.length === WORDS_PER_FILE) await writeWords()
  }
  await writeWords()
  for (const [states, of] of await lines.end()) secrets.states(name, of, states)
  const detail = shared.detail(rows.detail, bytes)
  const columns = encodeColumns(rows.columns)
  const { grades } = content
  secrets.run(detail, grades)
  const index = packStaticIndex({ tasks: rows.tasks, places, wordsPerFile: WORDS_PER_FILE, lineFiles: lines.first })
  await folder.write(STATIC_FILES.detail(id), JSON.stringify(detail))
  await folder.write(STATIC_FILES.columns(id), columns)
  await folder.write(STATIC_FILES.index(id), index)
  await folder.write(STATIC_FILES.grades(id), JSON.stringify(grades))
  await folder.write(STATIC_FILES.gradeSummary(id), JSON.stringify(rows.gradeSummary))
  return {
    // Without words and lines.
    run: {
      detail,
      columns: Buffer.from(columns).toString('base64'),
      words: [],
      lines: {},
      grades,
      gradeSummary: rows.gradeSummary,
    },
    whole: rows.whole.size,
    byTask: rowsOfTasks(rows, prompts),
  }
}

/** A line that is shared, and as it was sealed. */
interface SharedLine {
  readonly sealed: string
  readonly text: string
  readonly words: RowWords
}
type ReplayedLine = readonly [states: EpisodeStates, words: RowWords]

/** Creates what writes the lines of a run in files of bounded size, and their states. */
function createLineFiles({ found, states: share }: SharedRun, options: BundleOptions, folder: StaticFolder) {
  const { id } = found
  const replay = replayShared(found, options)
  /** The first place of each file. */
  const first: number[] = []
  let waiting: (SharedLine | null)[] = []
  let [place, characters] = [0, 0]
  const write = async (): Promise<readonly ReplayedLine[]> => {
    if (waiting.length === 0) return []
    const number = first.length
    first.push(place - waiting.length)
    const lines = waiting
    waiting = []
    characters = 0
    await folder.write(STATIC_FILES.lines(id, number), lines.map((line) => line?.text ?? '').join('\n'))
    if (!replay) return []
    const whole = lines.flatMap((line) => line ?? [])
    const replayed = whole.length > 0 ? await replay.of(whole.map(({ sealed }) => sealed)) : []
    const states = replayed.map((one, i) => share(one, (whole[i] as SharedLine).sealed))
    const byLine = new Map(whole.map((line, i) => [line, states[i] as EpisodeStates]))
    const listed = lines.map((line) => (line && byLine.get(line)) ?? null)
    await folder.write(STATIC_FILES.states(id, number), JSON.stringify(listed))
    return whole.map((line, i) => [states[i] as EpisodeStates, line.words])
  }
  return {
    first,
    /**
     * Adds the next line; `null` for an episode that has figures only. Resolves with the states that were written
     * meanwhile.
     */
    async add(line: SharedLine | null): Promise<readonly ReplayedLine[]> {
      const length = line?.text.length ?? 0
      const isFull = characters + length > LINE_CHARACTERS || waiting.length === MOST_LINES
      const replayed = isFull ? await write() : []
      waiting.push(line)
      characters += length
      place += 1
      return replayed
    },
    /** Writes the last file. Throws `world-not-found` if no line has states. */
    async end(): Promise<readonly ReplayedLine[]> {
      const replayed = await write()
      replay?.assertSome()
      return replayed
    },
  }
}

function rowsOfTasks({ tasks, columns: { columns } }: EmbeddedRows, prompts: ReadonlyMap<string, string>): RowsByTask {
  const byTask = Map.groupBy((columns.task ?? []).keys(), (row) => tasks[columns.task?.[row] ?? -1])
  return { rows: (task) => byTask.get(task) ?? [], prompt: (task) => prompts.get(task) ?? '' }
}
