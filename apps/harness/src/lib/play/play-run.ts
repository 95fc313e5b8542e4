import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { modelWords, recordingOf } from '@episodic/models/model-options'
import { writeReport } from '@episodic/pages/file/write-report'
import { DEFAULT_SEAT } from '@episodic/protocol'
import { formatCount, type Summary, seatRecordOf } from '@episodic/report'
import { shownPath } from '@episodic/runs/base/console'
import { HarnessError, invalidOption } from '@episodic/runs/base/harness-error'
import { raisedLimit } from '@episodic/runs/base/limit-reached'
import { removeDrafts } from '@episodic/runs/base/own-files'
import { isLlm } from '@episodic/runs/base/player-names'
import { countLeaves, type RunConfiguration } from '@episodic/runs/folder/plan/configuration'
import { countDraws } from '@episodic/runs/folder/plan/curriculum-settings'
import { readSources } from '@episodic/runs/folder/plan/sources'
import { LiveFile } from '@episodic/runs/folder/record/live-file'
import { lineOf } from '@episodic/runs/folder/record/own-lines'
import { policySeedsOf } from '@episodic/runs/folder/record/policy-seeds'
import { foldRun, tornNotice } from '@episodic/runs/folder/record/report-run'
import { createRun, findRun, RUN_FILES, type RunManifest } from '@episodic/runs/folder/record/run-folder'
import { lockRun } from '@episodic/runs/folder/record/run-lock'
import { SealedFile } from '@episodic/runs/folder/record/sealed-file'
import { removeStop, writeStop } from '@episodic/runs/folder/record/stop-file'
import { guaranteesOf, isServed } from '../worlds/served-world.ts'
import type { Runner } from './episodes/open-runner.ts'
import { maxTasksInFlight, type PlaceInOrder, runPlan } from './episodes/run-plan.ts'
import { Spending } from './episodes/spending.ts'
import { checkTasks, planEpisodes, tasksOf, unsealed } from './plan/plan.ts'
import { planStages } from './plan/staged-plan.ts'
import { createTries } from './plan/tries.ts'
import { journalOf, openPrepared, type PreparedRun, policyNames } from './prepare-run.ts'
import { LeftOut } from './record/left-out.ts'
import type { Progress } from './record/progress.ts'
import { Refusals } from './record/refusals.ts'
import { SameFault } from './record/same-fault.ts'
import { openWorkers } from './workers/open-workers.ts'

export interface PlayRunOptions {
  /** The folder of the run, absolute. */
  readonly folder: string
  /** Whether the folder has to hold the run already, of which the missing episodes are played, or none. */
  readonly resume: boolean
  /** Stops the run. Sealed episodes are kept. */
  readonly signal: AbortSignal
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
  configuration: RunConfiguration,
  prepared: PreparedRun,
  options: Pick<PlayRunOptions, 'warn' | 'signal'>,
) => Promise<Runner>

/** A run that was played to its end, was interrupted, or stopped. Its files are written. */
export interface PlayedRun {
  readonly folder: string
  readonly summary: Summary
  /** Why it stopped before its end: its server, its workers or its model failed. It can be resumed. */
  readonly stopped: HarnessError | null
  /** The option that raises the limit which stopped it; empty if none did. */
  readonly raise: readonly string[]
}

/** The files that only the process with the lock of the folder writes as a whole. */
const { manifest, summary, report, stop, live, steps, times } = RUN_FILES
const WRITTEN_ALONE = [manifest, summary, report, stop, live, steps, times]

/** Writing the report of so many episodes takes ten seconds or more, in which nothing else is shown. */
const LONG_REPORT = 100_000

/**
 * Plays the missing episodes of a run, and writes its summary and report.
 *
 * Rejects with `option-invalid` where failed episodes cannot be played again, `run-exists`, `run-invalid` or
 * `run-mismatch` if the folder holds something else, `run-locked`, `disk-failed`, with what opening a runner rejects
 * with, and with the signal's reason if it was stopped before it played anything.
 */
export async function playRun(
  prepared: PreparedRun,
  configuration: RunConfiguration,
  { folder, resume, signal, warn, showProgress, order, openRunner, spending: shared }: PlayRunOptions,
): Promise<PlayedRun> {
  const { settings, reference, world, target } = prepared
  const { concurrency, processes, retryFailed, tries: most, failFast, outageLimit } = settings
  assertRetry(prepared, resume)
  const earlier = await findRun(folder, configuration, resume)
  const tasks = () => tasksOf(configuration, world, { signal })
  // Who plays elsewhere keeps answers there.
  const journal = openRunner ? null : journalOf(prepared, configuration, folder)
  await using runner = await (openRunner
    ? openRunner(configuration, prepared, { warn, signal })
    : processes === 1
      ? openPrepared(prepared, configuration, journal)
      : openWorkers(configuration, { reference, settings, target, folder, processes, warn, signal }))
  const sources = await readSources(folder, reference, world, configuration)
  const { curriculum } = configuration
  const stages = curriculum?.kind === 'staged' ? curriculum : null
  const checked = earlier ? { count: 0, again: tasks } : await checkTasks(tasks, configuration.tasks.from)
  const plan = stages
    ? await planStages(stages, configuration, checked.again())
    : planEpisodes(checked.again(), configuration.rollouts)
  using lock = lockRun(folder)
  // Look again: another process may have created it since.
  const manifest =
    (await findRun(folder, configuration, resume)) ??
    (await createRun(folder, configuration, stages ? countDraws(stages) : checked.count, {
      played: toPlayInfo(prepared, configuration),
      sources,
    }))
  const { world: recorded } = manifest.sources ?? {}
  if (!isServed(world) && recorded && recorded.sha256 !== sources.world?.sha256)
    warn(
      `${shownPath(fileURLToPath(world.url))} has changed since this run started. If its behavior changed, give the environment a new version and start a new run.`,
    )
  using own = shared ? null : new Spending(settings)
  const spending = shared ?? (own as Spending)
  const refusals = new Refusals()
  const leftOut = new LeftOut()
  const tries = createTries({ retried: retryFailed, most })
  const fold = await foldRun(folder, manifest, {
    signal,
    onTorn: (line) => warn(tornNotice(line)),
    onSealed(record) {
      tries.add(record)
      spending.addSealed(record, () => true)
    },
  })
  await runner.begin?.(manifest, { elapsed: fold.elapsed, hasStored: tries.has })
  await using file = await SealedFile.open(join(folder, RUN_FILES.episodes), () => lock.assertHeld())
  await removeStop(folder)
  await removeDrafts(folder, WRITTEN_ALONE)
  await using live = new LiveFile(folder)
  const progress = showProgress(manifest.scheduled, tries.done, runner.describe)
  const sameFault = new SameFault(2 * failFast)
  let failure: unknown = null
  let raise: string[] = []
  try {
    await runPlan(unsealed(plan, countLeaves(configuration.branch), tries.next), {
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
      async seal(record) {
        // Of a tree that is played again, only the missing episodes are sealed.
        if (tries.settle(record)) {
          const text = lineOf(record)
          await file.append(record, text)
          if (journal) await Promise.all(policySeedsOf(record).map((seed) => journal.discard(seed)))
          fold.add(record, text)
          refusals.add(record)
          // What this process asks is counted with each answer.
          const missing = spending.addSealed(record, (policy) => openRunner !== undefined || !isLlm(policy))
          const notice = leftOut.add(record)
          if (notice !== null) warn(notice)
          progress.add(seatRecordOf(record, configuration.focus))
          sameFault.add(record)
          runner.onStored?.(record)
          if (missing) throw missing
        } else runner.onStored?.(record)
      },
    })
    if (!signal.aborted) runner.onComplete?.()
  } catch (error) {
    failure = error
  } finally {
    progress.stop()
  }
  if ((failure !== null || signal.aborted) && tries.done < manifest.scheduled) {
    const cause = signal.aborted ? signal.reason : failure
    const isInterrupted = signal.aborted && !HarnessError.is(cause)
    raise = raisedLimit(cause, { sealed: tries.done, scheduled: manifest.scheduled, concurrency })
    await writeStop(folder, isInterrupted ? null : cause, { redact: recordingOf(settings).redact, raise })
  }
  // A run that lost its server or was interrupted still has results to report.
  if (failure !== null && !signal.aborted && !isLost(failure)) throw failure
  if (HarnessError.is(failure, 'disk-failed')) throw failure
  lock.assertHeld()
  if (runner.times) {
    fold.times.addAll(runner.times)
    await fold.times.write(folder)
  }
  if (tries.done >= LONG_REPORT) warn(`Writing the report of ${formatCount(tries.done)} episodes.`)
  const summary = await writeReport(folder, fold)
  const notice = refusals.notice(summary)
  if (notice !== null) warn(notice)
  // A process may have died after it sealed an episode, and before it removed what was kept of it.
  if (journal && summary.counts.unresolved === 0)
    await rm(join(folder, RUN_FILES.answers), { recursive: true, force: true })
  return { folder, summary, stopped: HarnessError.is(failure) ? failure : null, raise }
}

function toPlayInfo(
  { world, target, transport, players, settings }: PreparedRun,
  configuration: RunConfiguration,
): RunManifest['played'] {
  const { concurrency, processes, queue, transcript, recordModels = false } = settings
  const guarantees = guaranteesOf(world)
  const asksModels = recordModels || policyNames(configuration).some(isLlm)
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
    ...(asksModels && {
      transcript,
      modelOptions: [...modelWords(settings), ...(recordModels ? ['--record-models'] : [])],
    }),
  }
}

function assertRetry({ settings: { retryFailed, branch } }: PreparedRun, resume: boolean): void {
  if (!retryFailed) return
  if (!resume)
    throw invalidOption('--retry-failed plays the failed episodes of a run again: give --resume and its --out too.')
  if (branch.length > 0)
    throw invalidOption('--retry-failed is for runs without --branch: a tree is played as a whole.')
}

/** Whether a run stopped because its server, workers or model failed. It can be resumed. */
function isLost(failure: unknown): boolean {
  const codes = [
    'server-failed',
    'worker-failed',
    'model-refused',
    'model-unavailable',
    'policy-failed',
    'limit-reached',
    'usage-missing',
  ] as const
  return codes.some((code) => HarnessError.is(failure, code))
}
