import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { writeReport } from '@episodic/pages/file/write-report'
import type { Summary } from '@episodic/report/fold/summary'
import { formatCount } from '@episodic/report/text/format'
import { HarnessError } from '@episodic/runs/base/harness-error'
import { RUN_FILES } from '@episodic/runs/folder/record/run-folder'
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

/** Writes the summary and the report of a run that was played. Rejects with `run-locked` and `disk-failed`. */
export async function reportRun(played: PlayedRun): Promise<ReportedRun> {
  const { folder, fold, lock, times, done, notices, journal, failure, raise, warn } = played
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
