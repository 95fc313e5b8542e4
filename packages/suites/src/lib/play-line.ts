import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { writeTasks } from '@episodic/dataset/jsonl'
import { concludeRun, runAlone } from '@episodic/play/play/complete-run'
import { findRun } from '@episodic/play/play/find-run'
import { type RunSettings, runSettingsSchema } from '@episodic/play/play/run-settings'
import type { World } from '@episodic/play/worlds/world'
import { seatRecordOf } from '@episodic/report/seats/seat-record'
import type { Console } from '@episodic/run/base/console'
import { makeFolder } from '@episodic/run/base/own-files'
import { hashFile } from '@episodic/run/folder/plan/content-hash'
import { holdsRun, RUN_FILES } from '@episodic/run/folder/record/run-folder'
import { readSealed } from '@episodic/run/folder/record/sealed-file'
import { lineTasks } from './line-tasks.ts'
import { meanReturn } from './mean-return.ts'
import { folderName, type LinePlayers, type PlayedLine, type ScoredLine, type SuitePlan } from './suite-plan.ts'
import { SUITE_FILES } from './suite-result.ts'

/** The file of a line's tasks, in the folder of its run. */
const TASKS_FILE = 'tasks.jsonl'

export interface PlayLineOptions {
  /** The folder of the suite. */
  readonly folder: string
  /** Settings of the runs that do not decide what is played: concurrency, transport, the model's server. */
  readonly settings: Partial<RunSettings>
  /** Returns the command line that plays the rest of all. */
  readonly resume: () => string
  readonly signal: AbortSignal
}

/** Returns the folder of a line's run, relative to that of the suite. */
export function runFolder({ environment }: World, { id }: PlayedLine | ScoredLine): string {
  return `${SUITE_FILES.runs}/${environment.name}/${folderName(id)}`
}

/**
 * Plays the missing episodes of a line as a run in a folder of its own. Resolves with its figures; with `null` if it
 * was stopped, and the next call plays on. Rejects with the errors of the run.
 */
export async function playLine(
  world: World,
  line: PlayedLine | ScoredLine,
  plan: SuitePlan,
  { folder, settings, resume, signal }: PlayLineOptions,
  console: Console,
) {
  const run = join(folder, runFolder(world, line))
  makeFolder(run)
  const dataset = join(run, TASKS_FILE)
  await writeTasks(dataset, lineTasks(world, line, plan), { signal })
  const asked = runSettingsSchema.parse({ ...settings, dataset, seed: plan.seed, ...playersOf(line) })
  const options = { folder: run, resume: holdsRun(run), signal, resumeLine: resume }
  const played = await runAlone(await findRun(fileURLToPath(world.url), asked), options, console)
  if (!concludeRun(played, resume, console)) return null
  return { ...(await foldLine(run, line.focus)), sealed: await hashFile(join(run, RUN_FILES.episodes)) }
}

function playersOf({ policy, seats, focus }: LinePlayers): Partial<RunSettings> {
  return seats && focus !== null ? { seat: { ...seats }, focus } : { policy }
}

/**
 * Computes the figures of a line from its sealed episodes. Rejects with `run-invalid` if a line of the file is none.
 */
async function foldLine(run: string, focus: string | null) {
  const file = join(run, RUN_FILES.episodes)
  const returns = new Map<string, number | null>()
  if (existsSync(file))
    // Of an episode that was played again because it failed, the first try counts: a rate of the plays that finished
    // can be too high.
    for await (const record of readSealed(file))
      if (record.try === 0)
        returns.set(record.task.id, seatRecordOf(record, focus ?? undefined).returns?.unshaped ?? null)
  const finished = [...returns.values()].filter((value) => value !== null)
  return { here: meanReturn(finished), finished: finished.length, failed: returns.size - finished.length }
}
