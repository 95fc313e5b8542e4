import { invalidOption } from '@episodic/run/base/harness-error'
import { countDraws } from '@episodic/run/folder/plan/curriculum-settings'
import type { PlannedEpisode } from '@episodic/run/folder/plan/planned-episode'
import { readSources, type Sources } from '@episodic/run/folder/plan/sources'
import { findRun } from '@episodic/run/folder/record/run-folder'
import type { Run } from './find-run.ts'
import { checkTasks, continuePoints, tasksOf } from './plan/plan.ts'
import { planRounds } from './rounds/rounds.ts'

export interface PlanRunOptions {
  /** The folder of the run, absolute. */
  readonly folder: string
  /** Whether the folder has to hold the run already, of which the missing episodes are played, or none. */
  readonly resume: boolean
  /** Stops the run. Sealed episodes are kept. */
  readonly signal: AbortSignal
}

/** A run with its folder and its plan: all of its episodes, those that are sealed already too. */
export interface PlannedRun extends PlanRunOptions {
  readonly run: Run
  readonly sources: Sources
  /** Tasks, or draws of them; 0 of a run that is resumed. */
  readonly tasks: number
  /** Played one after the other: all episodes at once, or a rollout of all tasks after the other. */
  readonly rounds: readonly AsyncIterable<PlannedEpisode>[]
}

/**
 * Plans the episodes of a run, and writes nothing. Rejects with `option-invalid` where failed episodes cannot be played
 * again, `run-exists`, `run-invalid` or `run-mismatch` if the folder holds something else, and with `dataset-invalid`.
 */
export async function planRun(run: Run, options: PlanRunOptions): Promise<PlannedRun> {
  const { configuration, reference, settings, world } = run
  const { folder, resume, signal } = options
  if (settings.retryFailed && !resume)
    throw invalidOption('--retry-failed plays the failed episodes of a run again: give --resume and its --out too.')
  if (settings.retryFailed && settings.branch.length > 0)
    throw invalidOption('--retry-failed is for runs without --branch: a tree is played as a whole.')
  const earlier = await findRun(folder, configuration, resume)
  const sources = await readSources(folder, reference, world, configuration)
  if (run.continued) {
    const { points } = run.continued
    return { ...options, run, sources, tasks: points.length, rounds: [continuePoints(points, configuration.rollouts)] }
  }
  const again = () => tasksOf(configuration, world, { signal })
  const tasks = earlier ? { count: 0, again } : await checkTasks(again, configuration, run.players)
  const { curriculum } = configuration
  const count = curriculum?.kind === 'staged' ? countDraws(curriculum) : tasks.count
  return { ...options, run, sources, tasks: count, rounds: await planRounds(tasks.again, run) }
}
