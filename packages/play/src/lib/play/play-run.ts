import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ModelJournal } from '@episodic/models/journal/model-journal'
import { modelWords } from '@episodic/models/model-options'
import { DEFAULT_SEAT, type SealedRecord } from '@episodic/protocol'
import { seatRecordOf } from '@episodic/report/seats/seat-record'
import { shownPath } from '@episodic/run/base/console'
import { removeDrafts } from '@episodic/run/base/own-files'
import { asksModels, isAgentName, isLlm, policyNames } from '@episodic/run/base/player-names'
import { countLeaves } from '@episodic/run/folder/plan/configuration'
import { policySeedsOf } from '@episodic/run/folder/plan/planned-episode'
import { LiveFile } from '@episodic/run/folder/record/live-file'
import { lineOf } from '@episodic/run/folder/record/own-lines'
import { foldRun, type RunFold, tornNotice } from '@episodic/run/folder/record/report-run'
import { createRun, findRun, RUN_FILES, type RunManifest } from '@episodic/run/folder/record/run-folder'
import { lockRun } from '@episodic/run/folder/record/run-lock'
import { SealedFile } from '@episodic/run/folder/record/sealed-file'
import type { StepTimes } from '@episodic/run/folder/record/step-times'
import { removeStop } from '@episodic/run/folder/record/stop-file'
import { guaranteesOf, isServed } from '../worlds/served-world.ts'
import { openRunner, type Runner } from './episodes/open-runner.ts'
import { type PlaceInOrder, runPlan } from './episodes/run-plan.ts'
import { Spending } from './episodes/spending.ts'
import { journalOf, type Run } from './find-run.ts'
import { maxTasksInFlight, unsealed } from './plan/plan.ts'
import { createTries } from './plan/tries.ts'
import type { PlannedRun } from './plan-run.ts'
import { Notices } from './record/notices.ts'
import type { Progress } from './record/progress.ts'
import { countSameFaults } from './record/same-fault.ts'
import { openRounds } from './rounds/rounds.ts'

export interface PlayRunOptions {
  /** Receives notices of one or more lines, without a line break at the end. */
  readonly warn: (notice: string) => void
  /**
   * Shows the progress.
   *
   * @param scheduled - episodes of the run.
   * @param done - episodes that were sealed before this start.
   * @param describe - says by whom the run is played now. Default: it is not shown.
   */
  readonly showProgress: (scheduled: number, done: number, describe?: () => string) => Progress
  /** Counts what language models take. Default: the run has limits of its own. */
  readonly spending?: Spending | undefined
  readonly order?: PlaceInOrder | undefined
  /** Opens what plays the episodes. Default: this process, or processes that it starts. */
  readonly openRunner?: OpenRunner | undefined
}

/** Opens what plays the episodes of a run elsewhere. What it rejects with, the run rejects with. */
export type OpenRunner = (
  run: Run,
  options: Pick<PlayRunOptions, 'warn'> & { readonly signal: AbortSignal },
) => Promise<Runner>

/** A run whose episodes were played, as far as it came. Its folder is locked until it is disposed of. */
export interface PlayedRun extends AsyncDisposable, Pick<PlayRunOptions, 'warn'> {
  readonly planned: PlannedRun
  readonly manifest: RunManifest
  readonly lock: ReturnType<typeof lockRun>
  readonly fold: RunFold
  /** Where the time of steps went, as far as it is known. */
  readonly times: StepTimes | undefined
  readonly done: number
  readonly notices: Notices
  readonly journal: ModelJournal | null
  /** Why it stopped; `null` if it did not, or was interrupted. */
  readonly failure: unknown
}

/** The files that only the process with the lock of the folder writes as a whole. */
const { manifest, summary, report, stop, live, steps, times } = RUN_FILES
const WRITTEN_ALONE = [manifest, summary, report, stop, live, steps, times]

/**
 * Plays the missing episodes of a run, and seals them in its folder.
 *
 * Rejects with `run-exists` or `run-mismatch` if another process has put something else there, `run-locked`,
 * `disk-failed`, with what opening a runner rejects with, and with the signal's reason if it was stopped before it
 * played anything.
 */
export async function playRun(planned: PlannedRun, options: PlayRunOptions): Promise<PlayedRun> {
  const { run, folder, signal } = planned
  const { warn, order } = options
  const { settings, configuration } = run
  const { concurrency, failFast, outageLimit } = settings
  await using opened = new AsyncDisposableStack()
  // Who plays elsewhere keeps answers there.
  const journal = options.openRunner ? null : journalOf(run, folder)
  const runner = opened.use(
    await (options.openRunner
      ? options.openRunner(run, { warn, signal })
      : settings.processes === 1
        ? openRunner(run, journal)
        : (await import('./workers/open-workers.ts')).openWorkers(run, { folder, warn, signal })),
  )
  const lock = opened.use(lockRun(folder))
  const manifest = await openManifest(planned, warn)
  const spending = options.spending ?? opened.use(new Spending(settings))
  const rounds = await openRounds({ folder, manifest, signal, warn })
  const tries = createTries({ retried: settings.retryFailed, most: settings.tries })
  const fold = await foldRun(folder, manifest, {
    signal,
    onTorn: (line) => warn(tornNotice(line)),
    onSealed(record) {
      tries.add(record)
      rounds.add(record)
      spending.addSealed(record, () => true)
    },
  })
  await runner.begin?.(manifest, { elapsed: fold.elapsed, hasStored: tries.has })
  const file = opened.use(await SealedFile.open(join(folder, RUN_FILES.episodes), () => lock.assertHeld()))
  await removeStop(folder)
  await removeDrafts(folder, WRITTEN_ALONE)
  const live = opened.use(new LiveFile(folder))
  const progress = options.showProgress(manifest.scheduled, tries.done, runner.describe)
  const isCode = !policyNames(configuration).some((name) => isLlm(name) || isAgentName(name))
  const [notices, countFault] = [new Notices(), countSameFaults(2 * failFast, isCode)]

  async function seal(record: SealedRecord): Promise<void> {
    // Of a tree that is played again, only the missing episodes are sealed.
    if (!tries.settle(record)) return runner.onStored?.(record)
    const text = lineOf(record)
    await file.append(record, text)
    if (journal) await Promise.all(policySeedsOf(record).map((seed) => journal.discard(seed)))
    fold.add(record, text)
    rounds.add(record)
    // What this process asks is counted with each answer.
    const missing = spending.addSealed(record, (policy) => options.openRunner !== undefined || !isLlm(policy))
    const notice = notices.add(record)
    if (notice !== null) warn(notice)
    progress.add(seatRecordOf(record, configuration.focus))
    countFault(record)
    runner.onStored?.(record)
    if (missing) throw missing
  }

  let failure: unknown = null
  try {
    await rounds.play(planned.rounds, (episodes) =>
      runPlan(unsealed(episodes, countLeaves(configuration.branch), tries.next), {
        run: manifest.name,
        runTask: runner.runTask,
        inFlight: runner.inFlight ?? maxTasksInFlight(concurrency, configuration.branch),
        elapsed: fold.elapsed,
        signal,
        models: policyNames(configuration).filter(isLlm),
        failFast,
        outageLimit,
        onNotice: warn,
        spending,
        order,
        live,
        seal,
      }),
    )
    if (!signal.aborted) runner.onComplete?.()
  } catch (error) {
    failure = error
  } finally {
    progress.stop()
  }
  const owned = opened.move()
  const known = { times: runner.times, done: tries.done, notices, journal, failure, warn }
  return { planned, manifest, lock, fold, ...known, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** Finds the manifest of a run again, as another process may have created it since, or creates it. */
async function openManifest({ run, folder, resume, sources, tasks }: PlannedRun, warn: PlayRunOptions['warn']) {
  const { configuration, world } = run
  const manifest =
    (await findRun(folder, configuration, resume)) ??
    (await createRun(folder, configuration, tasks, { played: toPlayInfo(run), sources }))
  const { world: recorded } = manifest.sources ?? {}
  if (!isServed(world) && recorded && recorded.sha256 !== sources.world?.sha256)
    warn(
      `${shownPath(fileURLToPath(world.url))} has changed since this run started. If its behavior changed, give the environment a new version and start a new run.`,
    )
  return manifest
}

function toPlayInfo({ world, target, transport, players, settings, configuration }: Run): RunManifest['played'] {
  const { concurrency, processes, queue, transcript, recordModels = false } = settings
  const guarantees = guaranteesOf(world)
  return {
    ...(queue === undefined
      ? {
          transport: isServed(world) ? world.address : target ? `${transport}, a server that was there` : transport,
          concurrency,
          processes,
        }
      : { transport: 'queue' }),
    ...(!configuration.seats && { player: players[DEFAULT_SEAT]?.name }),
    ...(guarantees && { guarantees }),
    ...((recordModels || asksModels(configuration)) && {
      transcript,
      modelOptions: [...modelWords(settings), ...(recordModels ? ['--record-models'] : [])],
    }),
  }
}
