import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { createGradableLines } from '@episodic/report/grades/gradable-lines'
import { taskGradesOf } from '@episodic/report/grades/task-grades'
import { seatRecordOf } from '@episodic/report/seats/seat-record'
import { HarnessError } from '@episodic/run/base/harness-error'
import { gradesFileOf, readGrades } from '@episodic/run/folder/grades-file'
import { rejectConflicts } from '@episodic/run/folder/record/report-run'
import { holdsRun, RUN_FILES, readManifest } from '@episodic/run/folder/record/run-folder'
import { readSealed } from '@episodic/run/folder/record/sealed-file'
import { readStop } from '@episodic/run/folder/record/stop-file'
import { seatOf } from '@episodic/run/folder/seat-of'
import type { UnreadRun } from './compare-with-baseline.ts'
import type { ComparedRun } from './compared-run.ts'
import { createPlayedTasks } from './played-tasks.ts'

/**
 * Reads what a run has sealed so far, finished or not. A torn last line is reported to `onTorn` and skipped.
 *
 * Rejects with `run-invalid` if the folder contains no run or a damaged one, or if lines of one episode differ.
 */
export async function readComparedRun(
  folder: string,
  options: {
    readonly onTorn?: (line: number) => void
    readonly allowConflicts?: boolean
    /** Of several seats; default: the one in focus. */
    readonly seat?: string | undefined
  } = {},
): Promise<ComparedRun> {
  const manifest = await readManifest(folder)
  const seat = seatOf(manifest.configuration, options.seat)
  const played = createPlayedTasks()
  const file = join(folder, RUN_FILES.episodes)
  const verdicts = await readGrades(gradesFileOf(folder))
  const lines = createGradableLines(seat)
  if (existsSync(file))
    for await (const record of readSealed(file, options)) {
      played.add(seatRecordOf(record, seat))
      // Naming a line for its verdicts takes time, and most runs have none.
      if (verdicts.length > 0) lines.add(record)
    }
  if (played.hasConflicts && !options.allowConflicts) await rejectConflicts(folder)
  // The policy of the compared seat is that of the run, beside those of the other seats.
  const { [seat ?? '']: own, ...others } = manifest.configuration.seats ?? {}
  const seats = own && { policy: own, seats: others }
  return {
    manifest: { ...manifest, configuration: { ...manifest.configuration, ...seats } },
    tasks: played.tasks,
    grades: taskGradesOf(verdicts, lines.list()),
    stopped: (await readStop(folder)) ?? undefined,
  }
}

export async function readOrWhy(
  folder: string,
  options: Parameters<typeof readComparedRun>[1] = {},
): Promise<ComparedRun | UnreadRun> {
  const name = basename(folder)
  if (!holdsRun(folder)) return { name, problem: 'It is not played yet.' }
  try {
    return await readComparedRun(folder, options)
  } catch (error) {
    if (HarnessError.is(error)) return { name, problem: error.message }
    throw error
  }
}
