import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { writeTasks } from '@episodic/dataset/jsonl'
import { concludeRun, runAlone } from '@episodic/play/play/complete-run'
import { findRun } from '@episodic/play/play/find-run'
import { type RunSettings, runSettingsSchema } from '@episodic/play/play/run-settings'
import type { World } from '@episodic/play/worlds/world'
import { findUnearned } from '@episodic/report/cheating/unearned'
import { createRate } from '@episodic/report/fold/clustered-rate'
import { seatRecordOf } from '@episodic/report/seats/seat-record'
import type { Console } from '@episodic/run/base/console'
import { makeFolder } from '@episodic/run/base/own-files'
import { hashFile } from '@episodic/run/folder/plan/content-hash'
import { holdsRun, RUN_FILES } from '@episodic/run/folder/record/run-folder'
import { readSealed } from '@episodic/run/folder/record/sealed-file'
import { lineTasks } from './line-tasks.ts'
import { meanReturn } from './mean-return.ts'
import {
  folderName,
  type LinePlayers,
  type PlannedWorld,
  type PlayedLine,
  type ScoredLine,
  type SuitePlan,
} from './suite-plan.ts'
import { type Solved, SUITE_FILES } from './suite-result.ts'

const TASKS_FILE = 'tasks.jsonl'

export interface PlayLineOptions {
  readonly folder: string
  /** Settings of the runs that do not decide what is played: concurrency, transport, the model's server. */
  readonly settings: Partial<RunSettings>
  readonly resume: () => string
  readonly signal: AbortSignal
}

export function runFolder({ environment }: World, { id }: PlayedLine | ScoredLine): string {
  return `${SUITE_FILES.runs}/${environment.name}/${folderName(id)}`
}

/**
 * Plays the missing episodes of a line as a run in a folder of its own. Resolves with its figures; with `null` if it
 * was stopped, and the next call plays on. Rejects with the errors of the run.
 */
export async function playLine(
  { world, entry }: PlannedWorld,
  line: PlayedLine | ScoredLine,
  plan: SuitePlan,
  { folder, settings, resume, signal }: PlayLineOptions,
  console: Console,
) {
  const run = join(folder, runFolder(world, line))
  makeFolder(run)
  const dataset = join(run, TASKS_FILE)
  const { episodes = plan.episodes } = line
  await writeTasks(dataset, lineTasks(world, line, { seed: plan.seed, episodes }), { signal })
  // A reference is of one episode of each task.
  const rollouts = line.kind === 'scored' && line.id !== 'floor' ? settings.rollouts : 1
  const asked = runSettingsSchema.parse({ ...settings, rollouts, dataset, seed: plan.seed, ...playersOf(line) })
  const options = { folder: run, resume: holdsRun(run), signal, resumeLine: resume }
  const played = await runAlone(await findRun(fileURLToPath(world.url), asked), options, console)
  if (!concludeRun(played, resume, console)) return null
  const wrong = new Set(entry.defects.flatMap(({ tasks }) => tasks))
  const figures = await foldLine(run, line.focus, wrong)
  const rate = line.kind === 'played' && line.reference.tolerance === 'exact' ? figures.solved?.rate : undefined
  // All tasks were played, so the share has no interval.
  const here = typeof rate === 'number' ? { mean: rate, low: rate, high: rate } : figures.here
  return { ...figures, here, sealed: await hashFile(join(run, RUN_FILES.episodes)) }
}

function playersOf({ policy, seats, focus }: LinePlayers): Partial<RunSettings> {
  return seats && focus !== null ? { seat: { ...seats }, focus } : { policy }
}

/**
 * Computes the figures of a line from its sealed episodes. Rejects with `run-invalid` if a line of the file is none.
 *
 * @param wrong - names of the tasks that are known to be wrong.
 */
async function foldLine(run: string, focus: string | null, wrong: ReadonlySet<string>) {
  const file = join(run, RUN_FILES.episodes)
  const [returns, successful, others]: [number[], number[], number[]] = [[], [], []]
  const tasks = new Map<string, JudgedTask>()
  let failed = 0
  if (existsSync(file))
    // Of an episode that was played again because it failed, the first try counts: a rate of the plays that finished
    // can be too high.
    for await (const record of readSealed(file)) {
      if (record.try !== 0) continue
      const { returns: earned, outcome, task, params } = seatRecordOf(record, focus ?? undefined)
      if (earned) returns.push(earned.unshaped)
      else failed += 1
      if (outcome.kind !== 'finished' || outcome.success === undefined) continue
      if (earned) (outcome.success ? successful : others).push(earned.unshaped)
      const judged = tasks.get(task.id) ?? { isWrong: wrong.has(String(params.task ?? task.id)), rollouts: [] }
      tasks.set(task.id, judged)
      judged.rollouts.push({ ...outcome.verdicts, [SOLVED]: outcome.success })
    }
  const solved = solvedOf([...tasks.values()])
  return { here: meanReturn(returns), finished: returns.length, failed, solved, ...findUnearned(successful, others) }
}

interface JudgedTask {
  readonly isWrong: boolean
  readonly rollouts: Readonly<Record<string, boolean>>[]
}

/** Stands for the world's success among its verdicts. */
const SOLVED = ''

/** The share of solved episodes with its 95 % interval, in which the episodes of a task are one draw. */
function solvedOf(tasks: readonly JudgedTask[]): Solved | null {
  if (tasks.length === 0) return null
  const rateOf = (some: typeof tasks, name: string) => {
    const rate = createRate()
    for (const [i, { rollouts }] of some.entries())
      for (const { [name]: verdict } of rollouts) if (verdict !== undefined) rate.add(i, verdict)
    return rate.finish()
  }
  const right = tasks.filter(({ isWrong }) => !isWrong)
  const repeated = tasks.filter(({ rollouts }) => rollouts.length > 1)
  const names = new Set(tasks.flatMap(({ rollouts }) => rollouts.flatMap((verdicts) => Object.keys(verdicts))))
  return {
    ...rateOf(tasks, SOLVED),
    withoutDefects: right.length < tasks.length ? rateOf(right, SOLVED) : null,
    flips:
      repeated.length > 0
        ? repeated.filter(({ rollouts }) => new Set(rollouts.map((verdicts) => verdicts[SOLVED])).size > 1).length
        : null,
    verdicts: [...names].filter((name) => name !== SOLVED).map((name) => ({ name, ...rateOf(tasks, name) })),
  }
}
