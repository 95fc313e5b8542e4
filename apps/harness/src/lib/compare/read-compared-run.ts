import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isMatchRecord } from '@episodic/protocol'
import {
  compareWords,
  IDENTITY_WORDS,
  identityOf,
  lanesOf,
  type ShownEpisode,
  seatRecordOf,
  showEpisode,
} from '@episodic/report'
import type { RunConfiguration } from '../run/plan/configuration.ts'
import { rejectConflicts } from '../run/record/report-run.ts'
import { RUN_FILES, readManifest } from '../run/record/run-folder.ts'
import { readSealed } from '../run/record/sealed-file.ts'
import { seatOf } from '../seats/seat-of.ts'
import type { ComparedRun } from './compare-runs.ts'
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
  if (existsSync(file)) for await (const record of readSealed(file, options)) played.add(seatRecordOf(record, seat))
  if (played.hasConflicts && !options.allowConflicts) await rejectConflicts(folder)
  return { manifest: { ...manifest, configuration: ofSeat(manifest.configuration, seat) }, seat, tasks: played.tasks }
}

/** Returns a configuration with the policy of the compared seat as that of the run, beside those of the other seats. */
function ofSeat(configuration: RunConfiguration, seat: string | undefined): RunConfiguration {
  const { [seat ?? '']: own, ...others } = configuration.seats ?? {}
  return own ? { ...configuration, policy: own, seats: others } : configuration
}

/** Reads the steps of some episodes of a run, by {@link episodeKey}. Skips lines that do not count. */
export async function readPlays(
  folder: string,
  { tasks, seat }: Pick<ComparedRun, 'tasks' | 'seat'>,
  wanted: ReadonlySet<string>,
): Promise<Map<string, ShownEpisode>> {
  const plays = new Map<string, ShownEpisode>()
  for await (const line of readSealed(join(folder, RUN_FILES.episodes))) {
    const record = seatRecordOf(line, seat)
    const key = episodeKey(record.task.id, record.attempt)
    const counted = tasks.get(record.task.id)?.plays.get(record.attempt)?.identity
    if (!wanted.has(key) || !counted || plays.has(key)) continue
    if (compareWords(counted, 0, identityOf(record), 0, IDENTITY_WORDS) === 0)
      plays.set(key, showEpisode(isMatchRecord(line) && seat ? lanesOf(line, seat) : record))
  }
  return plays
}

/** The key of an episode in a run. */
export function episodeKey(task: string, attempt: number): string {
  return `${attempt}/${task}`
}
