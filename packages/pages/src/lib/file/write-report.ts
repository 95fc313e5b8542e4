import type { Summary } from '@episodic/report/fold/summary'
import { markedJson } from '@episodic/run/base/own-mark'
import { markSummary, type RunFold, type RunPage, rejectConflicts } from '@episodic/run/folder/record/report-run'
import { RUN_FILES, writeRunFile } from '@episodic/run/folder/record/run-folder'
import { renderReport } from './render-report.ts'

export interface WriteReportOptions {
  /** Accepts conflicting lines of the same episode; the fold chooses between them. */
  readonly allowConflicts?: boolean
}

/**
 * Writes `summary.json` and `report.html`. Throws `run-invalid`, and writes nothing, if there are conflicting lines of
 * the same episode.
 */
export async function writeReport(
  folder: string,
  run: RunFold,
  { allowConflicts = false }: WriteReportOptions = {},
): Promise<Summary> {
  const summary = run.summarize()
  if (summary.counts.conflicts > 0 && !allowConflicts) await rejectConflicts(folder)
  await writeRunFile(folder, RUN_FILES.summary, await markedJson(folder, await markSummary(folder), summary))
  await writePage(folder, await run.page())
  return summary
}

export async function writePage(folder: string, { summary, run, content }: RunPage): Promise<void> {
  await writeRunFile(folder, RUN_FILES.report, await renderReport(summary, run, content))
}
