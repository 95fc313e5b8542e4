import { type BranchPoint, type Environment, type Policy, runEpisode, runTree } from '@episodic/env'
import { seedFor } from '@episodic/protocol'
import { countLeaves } from '@episodic/runs/folder/plan/configuration'
import type { PlannedEpisode } from '@episodic/runs/folder/plan/planned-episode'
import { policySeedOf } from '../plan/plan.ts'

export interface RolloutOptions {
  readonly createEnvironment: () => Environment
  readonly policy: Policy
  readonly seed: string
  readonly branch: readonly BranchPoint[]
  readonly signal: AbortSignal
  /** Milliseconds since the run started. */
  readonly now: () => number
}

/**
 * Plays one episode, or a tree of episodes if there are branch points. A tree of L leaves that is rollout r of its task
 * has the attempts from r·L to (r+1)·L − 1, in the order of their paths. A line that ends before its next branch point
 * counts for all leaves below it.
 */
export async function runRollout(
  planned: PlannedEpisode,
  { createEnvironment, policy, seed, branch: points, signal, now }: RolloutOptions,
) {
  const { task, attempt: rollout } = planned
  const policySeed = policySeedOf(seed, planned)
  // The environment's seed is the task's. The run's seed decides the tasks, the policy's draws and the chance of forks.
  const options = { createEnvironment, policy, task, policySeed, signal }
  if (points.length === 0) {
    const episode = await runEpisode(options)
    return [{ attempt: rollout, episode, policySeed, branch: null, ended: now() }]
  }
  const leaves = countLeaves(points)
  const branchSeed = seedFor(seed, 'branch', task.id, rollout)
  const tree = await runTree({ ...options, points, branchSeed, now })
  return tree.flatMap(({ path, at, seeds, policySeed, episode, ended }) => {
    const copies = countLeaves(points.slice(path.length))
    const branch = { rollout, leaves, copies, path, at, seeds }
    const first = rollout * leaves + countLeavesBefore(path, points)
    return Array.from({ length: copies }, (_, i) => ({ attempt: first + i, episode, policySeed, branch, ended }))
  })
}

/** Counts the leaves that come before those at the end of a path. */
export function countLeavesBefore(path: readonly number[], points: readonly BranchPoint[]): number {
  return path.reduce((count, line, i) => count + line * countLeaves(points.slice(i + 1)), 0)
}
