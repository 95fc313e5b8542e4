import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { JsonObject } from '@episodic/protocol'
import { type Summary, summarySchema } from '@episodic/report/fold/summary'
import { totalTokens } from '@episodic/report/fold/token-fold'
import { type GradeSummary, summarizeGrades } from '@episodic/report/grades/grade-summary'
import { FIGURE_COLUMNS, type RowFigures, rowFigures } from '@episodic/report/rows/row-figures'
import type { EpisodeInFlight, FollowedEpisode, RunDetail, RunEntry, RunListing } from '@episodic/report/view/run-entry'
import { isOwnJson } from '@episodic/run/base/own-mark'
import { gradesFileOf } from '@episodic/run/folder/grades-file'
import { createRunFold, markSummary } from '@episodic/run/folder/record/report-run'
import { RUN_FILES } from '@episodic/run/folder/record/run-folder'
import { isRunning } from '@episodic/run/folder/record/run-lock'
import { readStop } from '@episodic/run/folder/record/stop-file'
import { commandsFor } from '@episodic/run/folder/resume-commands'
import { RunIndex } from '../rows/run-index.ts'
import type { JobThread } from '../threads/job-thread.ts'
import type { FoundRun } from './find-runs.ts'
import { FollowedEpisodes, readInFlight } from './live-file.ts'
import { RunRows } from './run-rows.ts'

/** The threads that read sealed lines. Rows come first, so summaries have a thread of their own. */
export interface ReadingThreads {
  readonly rows: JobThread
  readonly summaries: JobThread
}

const WAIT = 800
/** How long an answer waits for the summary, which a page can show later than the rows. */
const SUMMARY_WAIT = 150
/** Milliseconds between looks at the lock of a run that does not grow. */
const LOCK_INTERVAL = 2_000

export class ViewedRun {
  readonly found: FoundRun
  readonly episodes: string
  readonly #threads: ReadingThreads
  readonly #onChange: () => void
  readonly #followed: FollowedEpisodes
  #index: RunIndex | null = null
  #summary: { readonly summary: Summary; readonly covered: number } | null = null
  #summarizing: Promise<void> | null = null
  #problem: string | null = null
  /** Bytes of lines of which no summary can be computed. */
  #failedAt: number | null = null
  #figures: { readonly bytes: number; readonly rows: number; readonly figures: RowFigures } | null = null
  #written: { readonly stamp: string; readonly summary: Summary | null } | null = null
  #grades: { readonly stamp: string; readonly summary: Promise<GradeSummary> } | null = null
  #gradeBytes = 0
  #lockSeen = Number.NEGATIVE_INFINITY
  isRunning = false
  bytes = 0
  inFlight: readonly EpisodeInFlight[] = []

  constructor(found: FoundRun, threads: ReadingThreads, onChange: () => void) {
    this.found = found
    this.episodes = join(found.folder, RUN_FILES.episodes)
    this.#threads = threads
    this.#onChange = onChange
    this.#followed = new FollowedEpisodes(found.folder)
  }

  get seat(): string | undefined {
    return this.found.manifest.configuration.focus
  }

  get rowsInMemory(): number {
    return this.#index?.table.size ?? 0
  }

  /** Looks at the files. Resolves with whether there is something else to show. */
  async poll(): Promise<boolean> {
    const [size = 0, gradeBytes = 0] = await Promise.all([this.episodes, gradesFileOf(this.found.folder)].map(readSize))
    const grown = size !== this.bytes
    const running = this.#isRunning(grown)
    const inFlight = running ? await readInFlight(this.found.folder) : []
    const switched = running !== this.isRunning
    const graded = gradeBytes !== this.#gradeBytes
    this.bytes = size
    this.#gradeBytes = gradeBytes
    this.isRunning = running
    // Pages show no more of what is being played.
    const plays = inFlight.length !== this.inFlight.length
    this.inFlight = inFlight
    const index = this.#index
    if ((grown || switched) && index) index.update().then(() => (running ? undefined : index.write()), this.#note)
    // Where rows are kept, what has grown is shown once it has rows.
    return switched || graded || plays || (grown && !index)
  }

  /** Checks the lock at most every two seconds while the file does not grow: a folder may have hundreds of runs. */
  #isRunning(grown: boolean): boolean {
    const now = performance.now()
    if (this.isRunning || grown || now - this.#lockSeen >= LOCK_INTERVAL) {
      this.#lockSeen = now
      return isRunning(this.found.folder)
    }
    return false
  }

  /** Begins to read the rows of a run that has no summary of all of its lines. */
  async prepare(): Promise<void> {
    if (this.#index || this.#figuresNow() || (!this.isRunning && (await this.#readSummary()))) return
    await this.index()
  }

  /** Forgets the rows that are in memory, after writing them. Their figures are kept. */
  async unload(): Promise<void> {
    const index = this.#index
    if (!index || index.isUpdating) return
    await index.write()
    this.#figuresNow()
    this.#index = null
  }

  async close(): Promise<void> {
    await this.#index?.write()
  }

  /** Returns the rows so far: of a run that was not read yet, waits for them for a moment. */
  async index(): Promise<RunIndex> {
    if (!this.#index) {
      const { seat, found } = this
      this.#index = new RunIndex({
        folder: found.folder,
        seat,
        index: async (part, onRows) => void (await this.#threads.rows.run('index', part, onRows)),
        onChange: this.#onChange,
      })
    }
    const index = this.#index
    await within(WAIT, this.#updated(index))
    await index.begun
    return index
  }

  /**
   * Returns the rows.
   *
   * @param whole - those of all lines, however long it takes: an episode that is asked for by its address may be in the
   *   last one.
   */
  async rows(whole = false): Promise<RunRows> {
    const index = await this.index()
    if (whole) await this.#updated(index)
    return new RunRows(this.episodes, index.table)
  }

  async #updated(index: RunIndex): Promise<void> {
    try {
      await index.update()
      this.#problem = null
      if (!this.isRunning) await index.write()
    } catch (error) {
      this.#note(error)
    }
  }

  async entry(): Promise<RunEntry> {
    const { id, set, member, manifest } = this.found
    const written = this.isRunning ? null : await this.#readSummary()
    const figures = written ? null : this.#figuresNow()
    const counts = written?.counts ?? figures
    const tokens: ReturnType<typeof tokensOf> = written
      ? tokensOf(written)
      : figures && { ...figures, unpriced: undefined }
    const { name, createdAt, scheduled, configuration } = manifest
    const { finished = 0, failed = 0 } = counts ?? {}
    const counted = written ? undefined : this.#counted()
    const ended = finished + failed >= scheduled ? 'finished' : 'stopped'
    const state = this.isRunning ? 'running' : counted === undefined ? ended : 'counting'
    const stopped = state === 'stopped' ? await readStop(this.found.folder) : null
    return {
      id,
      name,
      set,
      ...(member && { member }),
      createdAt,
      state,
      ...(counted !== undefined && { counted }),
      ...(stopped && { stopped }),
      environments: [`${configuration.environment.name}@${configuration.environment.version}`],
      players: [...new Set(Object.values(configuration.seats ?? { '': configuration.policy }).map(({ name }) => name))],
      scheduled,
      finished,
      failed,
      success: written?.success.overall ?? figures?.success ?? null,
      ...(written?.retried && { retried: written.retried }),
      ...(written?.success.unearned && { unearned: written.success.unearned }),
      unshaped: written?.returns.unshaped?.mean ?? figures?.unshaped ?? null,
      tokens: tokens?.tokens ?? null,
      cost: tokens?.cost ?? null,
      ...(tokens?.unpriced && { unpriced: tokens.unpriced }),
      bytes: this.bytes,
    }
  }

  async listing(): Promise<RunListing> {
    const { table } = await this.index()
    const { dictionaries } = table.columns([])
    return { entry: await this.entry(), rows: table.size, dictionaries }
  }

  async detail(): Promise<RunDetail> {
    const index = await this.index()
    const { summary, complete } = await this.#summarize(index)
    const { manifest } = this.found
    const listing = await this.listing()
    const { entry } = listing
    const isCounted = entry.state !== 'counting'
    const { configuration, played, versions } = manifest
    const { seats, focus = '' } = configuration
    const problems = [
      ...(index.unreadable > 0 ? [`${index.unreadable} lines are no sealed episodes, and are not shown.`] : []),
      ...(this.#problem === null ? [] : [this.#problem]),
    ]
    return {
      ...listing,
      summary,
      complete,
      configuration: { ...configuration, ...played, ...versions } as unknown as JsonObject,
      commands: commandsFor(this.found, {
        missing: isCounted ? entry.scheduled - entry.finished - entry.failed : 0,
        failed: entry.failed,
        raise: entry.stopped?.raise,
      }),
      inFlight: this.inFlight,
      seats: seats ? [focus, ...Object.keys(seats).filter((seat) => seat !== focus)] : [],
      problems,
    }
  }

  /** Returns an episode that is being played, as far as it has come; `null` if it is not played now. */
  async follow(task: string, attempt: number): Promise<FollowedEpisode | null> {
    const shown = this.inFlight.find((episode) => episode.task === task && episode.attempt === attempt)
    return shown ? this.#followed.follow(shown) : null
  }

  /** Rejects with `run-invalid` for a line that is no sealed episode. */
  async gradeSummary(): Promise<GradeSummary> {
    const { folder, manifest } = this.found
    const index = await this.index()
    await this.#updated(index)
    const { covered } = index
    const file = await stat(gradesFileOf(folder)).catch(() => null)
    if (!file || covered === 0)
      return { ...summarizeGrades(manifest.name, [], []), episodes: this.#figuresNow()?.finished ?? 0 }
    const stamp = `${covered} ${file.mtimeMs} ${file.size}`
    if (this.#grades?.stamp !== stamp) {
      const summary = this.#threads.summaries.run('summarizeGrades', { folder, to: covered })
      this.#grades = { stamp, summary }
      summary.catch(() => {
        if (this.#grades?.summary === summary) this.#grades = null
      })
    }
    return this.#grades.summary
  }

  /** Figures of the rows that were read last; `null` if none were, or there are more lines now. */
  #figuresNow(): RowFigures | null {
    const table = this.#index?.table
    if (table && this.#figures?.rows !== table.size)
      this.#figures = { bytes: this.bytes, rows: table.size, figures: rowFigures(table.columns(FIGURE_COLUMNS)) }
    return table?.size || this.#figures?.bytes === this.bytes ? (this.#figures?.figures ?? null) : null
  }

  /** The share of the lines that have rows; `undefined` if none is left to read. */
  #counted(): number | undefined {
    if (this.bytes === 0) return
    const index = this.#index
    if (!index) return this.#figures?.bytes === this.bytes ? undefined : 0
    return index.isUpdating ? Math.min(1, index.covered / this.bytes) : undefined
  }

  /** The summary in the folder, if a command of this user made it of these lines. */
  async #readSummary(): Promise<Summary | null> {
    const path = join(this.found.folder, RUN_FILES.summary)
    const stamp = await readStamp(path, this.episodes)
    if (this.#written?.stamp !== stamp)
      this.#written = { stamp, summary: await readOwnSummary(this.found.folder, path) }
    return this.#written.summary
  }

  async #summarize(index: RunIndex): Promise<{ readonly summary: Summary; readonly complete: boolean }> {
    if (index.covered === 0)
      return { summary: createRunFold(this.found.manifest).summarize(), complete: !index.isUpdating }
    // An update that finds nothing new makes no rows.
    const isWhole = index.covered === this.bytes || !index.isUpdating
    const written = await this.#readSummary()
    if (written && isWhole) return { summary: written, complete: true }
    if (this.#summary?.covered !== index.covered && this.#failedAt !== index.covered)
      await within(SUMMARY_WAIT, this.#computeSummary(index))
    const summary = this.#summary?.summary ?? written ?? createRunFold(this.found.manifest).summarize()
    return { summary, complete: this.#summary?.covered === index.covered && isWhole }
  }

  #computeSummary(index: RunIndex): Promise<void> {
    const to = index.covered
    this.#summarizing ??= this.#threads.summaries
      .run('summarize', { folder: this.found.folder, to })
      .then((summary) => {
        this.#summary = summary
        this.#onChange()
      })
      .catch((error) => {
        this.#failedAt = to
        this.#note(error)
      })
      .finally(() => {
        this.#summarizing = null
      })
    return this.#summarizing
  }

  readonly #note = (error: unknown): void => {
    this.#problem = (error as Error).message
  }
}

function tokensOf({ tokens }: Summary) {
  return tokens && { tokens: totalTokens(tokens), cost: tokens.cost, unpriced: tokens.unpriced }
}

async function readOwnSummary(folder: string, path: string): Promise<Summary | null> {
  try {
    const text = await readFile(path, 'utf8')
    if (!(await isOwnJson(folder, await markSummary(folder), text))) return null
    return summarySchema.parse(JSON.parse(text))
  } catch {
    return null
  }
}

async function readStamp(...files: readonly string[]): Promise<string> {
  const stats = await Promise.all(files.map((file) => stat(file).catch(() => null)))
  return stats.map((found) => `${found?.mtimeMs} ${found?.size}`).join()
}

async function readSize(file: string): Promise<number> {
  const { size = 0 } = (await stat(file).catch(() => null)) ?? {}
  return size
}

async function within(milliseconds: number, promise: Promise<void>): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, milliseconds)
  await Promise.race([promise, late]).finally(() => clearTimeout(timer))
}
