import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { writeTasks } from '@episodic/dataset/jsonl'
import { seatRecordOf } from '@episodic/report'
import { runCommand } from '../commands/run.ts'
import { type Console, SILENT } from '../console.ts'
import { hashFile } from '../run/plan/sources.ts'
import { holdsRun, RUN_FILES } from '../run/record/run-folder.ts'
import { readSealed } from '../run/record/sealed-file.ts'
import type { World } from '../world.ts'
import { lineTasks } from './line-tasks.ts'
import { type Mean, meanReturn } from './mean-return.ts'
import { folderName, type LinePlayers, type PlayedLine, type ScoredLine, type SuitePlan } from './suite-plan.ts'
import { SUITE_FILES } from './suite-result.ts'

/** The file of a line's tasks, in the folder of its run. */
const TASKS_FILE = 'tasks.jsonl'

export interface PlayLineOptions {
  /** The folder of the suite. */
  readonly folder: string
  /** Arguments of `episodic run` that do not decide what is played: concurrency, transport, the model's server. */
  readonly runArguments: readonly string[]
  /** Returns the command line that plays the rest of the suite. */
  readonly resume: () => string
  readonly signal: AbortSignal
}

/** Figures of a played line. */
export interface LineFold {
  readonly here: Mean | null
  readonly finished: number
  readonly failed: number
}

/** Returns the folder of a line's run, relative to that of the suite. */
export function runFolder({ environment }: World, { id }: PlayedLine | ScoredLine): string {
  return `${SUITE_FILES.runs}/${environment.name}/${folderName(id)}`
}

/**
 * Plays the missing episodes of a line with `episodic run`, into a folder of its own. Resolves with its figures; with `null`
 * if it was stopped, and the next call plays on. Rejects with the errors of the command.
 */
export async function playLine(
  world: World,
  line: PlayedLine | ScoredLine,
  plan: SuitePlan,
  { folder, runArguments, resume, signal }: PlayLineOptions,
  { err }: Console,
): Promise<(LineFold & { readonly sealed: string }) | null> {
  const run = join(folder, runFolder(world, line))
  await mkdir(run, { recursive: true })
  const tasks = join(run, TASKS_FILE)
  await writeTasks(tasks, lineTasks(world, line, plan), { signal })
  const options = { '--dataset': tasks, '--seed': plan.seed, '--out': run }
  // Its summary is a part of the suite's.
  const quiet: Console = { out: SILENT, err }
  await runCommand(quiet, resume).parseAsync(
    [
      fileURLToPath(world.url),
      ...Object.entries(options).flat(),
      ...playersArguments(line),
      ...runArguments,
      ...(holdsRun(run) ? ['--resume'] : []),
    ],
    { from: 'user' },
  )
  const fold = await foldLine(run, line.focus)
  if (fold.finished + fold.failed < plan.episodes) return null
  return { ...fold, sealed: await hashFile(join(run, RUN_FILES.episodes)) }
}

function playersArguments({ policy, seats, focus }: LinePlayers): string[] {
  if (!seats || focus === null) return ['--policy', policy]
  return [...Object.entries(seats).flatMap(([seat, name]) => ['--seat', `${seat}=${name}`]), '--focus', focus]
}

/** Computes the figures of a line from its sealed episodes. Rejects with `run-invalid` if a line of the file is none. */
export async function foldLine(run: string, focus: string | null): Promise<LineFold> {
  const file = join(run, RUN_FILES.episodes)
  const returns = new Map<string, number | null>()
  if (existsSync(file))
    // Of an episode that was played again because it failed, the first try counts: choosing plays can flatter.
    for await (const record of readSealed(file))
      if (record.try === 0)
        returns.set(record.task.id, seatRecordOf(record, focus ?? undefined).returns?.unshaped ?? null)
  const finished = [...returns.values()].filter((value) => value !== null)
  return { here: meanReturn(finished), finished: finished.length, failed: returns.size - finished.length }
}
