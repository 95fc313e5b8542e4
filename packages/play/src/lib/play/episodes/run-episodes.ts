import type { Policy } from '@episodic/env'
import { DEFAULT_SEAT } from '@episodic/protocol'
import type { PlannedEpisode } from '@episodic/run/folder/plan/planned-episode'
import { maxTasksInFlight } from '../plan/plan.ts'
import { createRunTask, type OneSeat, type RolloutOptions } from './rollout.ts'
import { type RunPlanOptions, runPlan } from './run-plan.ts'

export interface RunEpisodesOptions
  extends Omit<OneSeat, 'watch'>,
    Pick<RolloutOptions, 'seed' | 'discount' | 'accept' | 'recording'>,
    Omit<RunPlanOptions, 'runTask' | 'inFlight'> {
  readonly policy: Policy
  /** Episodes in flight at once. All lines of a tree are in flight together; one tree is played even if it has more. */
  readonly concurrency: number
}

/** Plays a plan in this process, with a policy, and seals each episode when it ends. See {@link runPlan}. */
export async function runEpisodes(plan: AsyncIterable<PlannedEpisode>, options: RunEpisodesOptions): Promise<void> {
  const { concurrency, branch, policy } = options
  const runTask = createRunTask({ ...options, play: options, players: { [DEFAULT_SEAT]: policy } })
  await runPlan(plan, { ...options, inFlight: maxTasksInFlight(concurrency, branch), runTask })
}
