import type { PlannedEpisode } from '@episodic/runs/folder/plan/planned-episode'
import { maxTasksInFlight, type RunPlanOptions, runPlan } from './run-plan.ts'
import { createRunTask, type EpisodePlay, playEpisodes, type RunTaskOptions } from './run-task.ts'

export interface RunEpisodesOptions
  extends EpisodePlay,
    Omit<RunTaskOptions, 'play'>,
    Omit<RunPlanOptions, 'runTask' | 'inFlight'> {
  /** Episodes in flight at once. All lines of a tree are in flight together; one tree is played even if it has more. */
  readonly concurrency: number
}

/** Plays a plan in this process, with a policy, and seals each episode when it ends. See {@link runPlan}. */
export async function runEpisodes(plan: AsyncIterable<PlannedEpisode>, options: RunEpisodesOptions): Promise<void> {
  const inFlight = maxTasksInFlight(options.concurrency, options.branch)
  await runPlan(plan, { ...options, inFlight, runTask: createRunTask({ ...options, play: playEpisodes(options) }) })
}
