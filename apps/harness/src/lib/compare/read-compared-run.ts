import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { compareWords, IDENTITY_WORDS, identityOf } from '../report/fold/episode-identity.ts'
import { type ShownEpisode, showEpisode } from '../report/fold/shown-episode.ts'
import { refuseConflicts } from '../run/refuse-conflicts.ts'
import { RUN_FILES, readManifest } from '../run/run-folder.ts'
import { readSealed } from '../run/sealed-file.ts'
import type { ComparedRun } from './compare-runs.ts'
import { createPlayedTasks, type PlayedTasks } from './played-tasks.ts'

/**
 * Reads what a run has sealed so far, finished or not; a torn last line is told to `onTorn` and passed over.
 *
 * Throws `run-invalid` for a folder that holds no run, for a damaged one, and where lines say different things of one
 * episode.
 */
export async function readComparedRun(
  folder: string,
  options: { readonly onTorn?: (line: number) => void; readonly allowConflicts?: boolean } = {},
): Promise<ComparedRun> {
  const manifest = await readManifest(folder)
  const played = createPlayedTasks()
  const file = join(folder, RUN_FILES.episodes)
  if (existsSync(file)) for await (const record of readSealed(file, options)) played.add(record)
  if (played.hasConflicts && !options.allowConflicts) await refuseConflicts(folder)
  return { manifest, tasks: played.tasks }
}

/** Reads some episodes of a run anew, step by step, under their {@link episodeKey}. Only the lines that count are read. */
export async function readPlays(
  folder: string,
  tasks: PlayedTasks,
  wanted: ReadonlySet<string>,
): Promise<Map<string, ShownEpisode>> {
  const plays = new Map<string, ShownEpisode>()
  for await (const record of readSealed(join(folder, RUN_FILES.episodes))) {
    const key = episodeKey(record.task.id, record.attempt)
    const counted = tasks.get(record.task.id)?.plays.get(record.attempt)?.identity
    if (!wanted.has(key) || !counted || plays.has(key)) continue
    if (compareWords(counted, 0, identityOf(record), 0, IDENTITY_WORDS) === 0) plays.set(key, showEpisode(record))
  }
  return plays
}

/** Names an episode of a run. */
export function episodeKey(task: string, attempt: number): string {
  return `${attempt}/${task}`
}
