import { realpath } from 'node:fs/promises'
import type { RunEntry } from '@episodic/report/view/run-entry'
import { oneAtATime } from '@episodic/run/base/one-at-a-time'
import { isLlm } from '@episodic/run/base/player-names'
import { promptsOfRuns } from '@episodic/run/folder/plan/prompt-names'
import { HttpProblem } from '../http-problem.ts'
import { JobThread } from '../threads/job-thread.ts'
import { findRuns } from './find-runs.ts'
import { ViewedRun } from './viewed-run.ts'

/** Milliseconds between looks at the folders, and at the files of the runs. */
const FOLDER_INTERVAL = 2_000
const FILE_INTERVAL = 500
/** Rows of all runs that are kept in memory, about 250 bytes each. The runs that were read last stay. */
const MOST_ROWS = 250_000

/** Called when there is more of a run to show than before. */
export type RunListener = (run: ViewedRun) => void

/** The runs in a folder, which is looked at again while somebody listens. */
export class ViewedRuns implements AsyncDisposable {
  readonly folder: string
  readonly #threads = { rows: new JobThread(), summaries: new JobThread() }
  /** By their ids, the one that was asked for last at the end. */
  readonly #runs = new Map<string, ViewedRun>()
  readonly #listeners = new Set<RunListener>()
  #problems: readonly string[] = []
  #foldersSeen = Number.NEGATIVE_INFINITY
  #filesSeen = Number.NEGATIVE_INFINITY
  #timer: NodeJS.Timeout | null = null

  private constructor(folder: string) {
    this.folder = folder
  }

  static async open(folder: string): Promise<ViewedRuns> {
    const runs = new ViewedRuns(await realpath(folder))
    await runs.scan()
    return runs
  }

  get size(): number {
    return this.#runs.size
  }

  get problems(): readonly string[] {
    return this.#problems
  }

  /** The thread in which lines are read for other purposes than rows. */
  get thread(): JobThread {
    return this.#threads.summaries
  }

  readonly scan = oneAtATime(() => this.#scan())

  all(): readonly ViewedRun[] {
    return [...this.#runs.values()]
  }

  get(id: string): ViewedRun {
    const run = this.#runs.get(id)
    if (!run) throw new HttpProblem('run-not-found', `There is no run ${id} in the folder that is shown.`)
    this.#runs.delete(id)
    this.#runs.set(id, run)
    return run
  }

  /** Running ones first, then the newest first. */
  async entries(): Promise<RunEntry[]> {
    await this.scan()
    const runs = this.all()
    const prompts = promptsOfRuns(runs.map(({ found }) => found.manifest.configuration))
    const named = (name: string, i: number) => (prompts[i] && isLlm(name) ? `${name} ${prompts[i]}` : name)
    const entries = (await Promise.all(runs.map((run) => run.entry()))).map(
      (entry, i): RunEntry => ({ ...entry, players: entry.players.map((name) => named(name, i)) }),
    )
    // Figures that nobody computed yet are computed meanwhile, one run after the other.
    void this.#prepareAll()
    return entries.sort(
      (a, b) =>
        Number(b.state === 'running') - Number(a.state === 'running') ||
        (a.createdAt < b.createdAt ? 1 : a.createdAt > b.createdAt ? -1 : 0) ||
        (a.name < b.name ? -1 : 1),
    )
  }

  listen(listener: RunListener): () => void {
    this.#listeners.add(listener)
    this.#timer ??= setInterval(() => void this.scan().catch(() => {}), FILE_INTERVAL)
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size > 0 || !this.#timer) return
      clearInterval(this.#timer)
      this.#timer = null
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#timer) clearInterval(this.#timer)
    await Promise.all(this.all().map((run) => run.close()))
    await Promise.all([this.#threads.rows[Symbol.asyncDispose](), this.#threads.summaries[Symbol.asyncDispose]()])
  }

  readonly #prepareAll = oneAtATime(async () => {
    try {
      for (const run of this.all()) {
        await run.prepare()
        await this.#unloadOthers()
      }
    } catch {
      // Its own page says what is wrong with a run.
    }
  })

  async #scan(): Promise<void> {
    const now = performance.now()
    if (now - this.#foldersSeen >= FOLDER_INTERVAL) {
      this.#foldersSeen = now
      await this.#find()
    }
    if (now - this.#filesSeen < FILE_INTERVAL / 2) return
    this.#filesSeen = now
    for (const run of this.all()) {
      if (await run.poll()) this.#notify(run)
      // Its lines are read as they come, if somebody follows them.
      if (run.isRunning && this.#listeners.size > 0) void run.prepare()
    }
    await this.#unloadOthers()
  }

  async #find(): Promise<void> {
    const { runs, problems } = await findRuns(this.folder)
    this.#problems = problems
    const gone = new Set(this.#runs.keys())
    for (const found of runs) {
      gone.delete(found.id)
      const known = this.#runs.get(found.id)
      if (known?.found.folder === found.folder) continue
      const run: ViewedRun = new ViewedRun(found, this.#threads, () => this.#notify(run))
      this.#runs.set(found.id, run)
      this.#filesSeen = Number.NEGATIVE_INFINITY
    }
    for (const id of gone) this.#runs.delete(id)
  }

  #notify(run: ViewedRun): void {
    for (const listener of this.#listeners) listener(run)
  }

  async #unloadOthers(): Promise<void> {
    let rows = this.all().reduce((sum, { rowsInMemory }) => sum + rowsInMemory, 0)
    for (const run of this.all()) {
      if (rows <= MOST_ROWS) return
      // The last one is being looked at.
      if (run === this.all().at(-1)) return
      rows -= run.rowsInMemory
      await run.unload()
    }
  }
}
