import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { recordingOf } from '@episodic/models/model-options'
import { writeReport } from '@episodic/pages/file/write-report'
import type { Summary } from '@episodic/report/fold/summary'
import { formatCount } from '@episodic/report/text/format'
import { HarnessError, type HarnessErrorCode } from '@episodic/run/base/harness-error'
import { raisedLimit } from '@episodic/run/base/limit-reached'
import { RUN_FILES } from '@episodic/run/folder/record/run-folder'
import { writeStop } from '@episodic/run/folder/record/stop-file'
import type { PlayedRun } from './play-run.ts'

/** A run that was played to its end, was interrupted, or stopped. Its files are written. */
export interface ReportedRun {
  readonly folder: string
  readonly summary: Summary
  /** Why it stopped before its end: its server, its workers or its model failed. It can be resumed. */
  readonly stopped: HarnessError | null
  /** The option that raises the limit which stopped it; empty if none did. */
  readonly raise: readonly string[]
}

/** Writing the report of so many episodes takes ten seconds or more, in which nothing else is shown. */
const LONG_REPORT = 100_000

/**
 * Writes why a run stopped, and its summary and report. Rejects with its failure if it has no results to report or its
 * disk failed, with `run-locked` and with `disk-failed`.
 */
export async function reportRun(played: PlayedRun): Promise<ReportedRun> {
  const { planned, manifest, fold, lock, times, done, notices, journal, failure, warn } = played
  const { folder, signal, run } = planned
  const { scheduled } = manifest
  let raise: string[] = []
  if ((failure !== null || signal.aborted) && done < scheduled) {
    const cause = signal.aborted ? signal.reason : failure
    raise = raisedLimit(cause, { sealed: done, scheduled, concurrency: run.settings.concurrency })
    await writeStop(folder, signal.aborted && !HarnessError.is(cause) ? null : cause, {
      redact: recordingOf(run.settings).redact,
      raise,
    })
  }
  // A run that lost its server or was interrupted still has results to report.
  if (failure !== null && !signal.aborted && !LOST.some((code) => HarnessError.is(failure, code))) throw failure
  if (HarnessError.is(failure, 'disk-failed')) throw failure
  lock.assertHeld()
  if (times) {
    fold.times.addAll(times)
    await fold.times.write(folder)
  }
  if (done >= LONG_REPORT) warn(`Writing the report of ${formatCount(done)} episodes.`)
  const summary = await writeReport(folder, fold)
  const notice = notices.atEnd(summary)
  if (notice !== null) warn(notice)
  // A process may have died after it sealed an episode, and before it removed what was kept of it.
  if (journal && summary.counts.unresolved === 0)
    await rm(join(folder, RUN_FILES.answers), { recursive: true, force: true })
  return { folder, summary, stopped: HarnessError.is(failure) ? failure : null, raise }
}

/** Failures of a server, of workers or of a model, after which a run can be resumed. */
const LOST: readonly HarnessErrorCode[] = [
  'server-failed',
  'worker-failed',
  'model-refused',
  'model-unavailable',
  'policy-failed',
  'limit-reached',
  'usage-missing',
]
