import { type BranchPoint, type Environment, type Episode, type Policy, runEpisode, runTree } from '@episodic/env'
import { type EpisodeRecord, seedFor } from '@episodic/protocol'
import { countLeaves } from './count-leaves.ts'
import type { PlannedEpisode } from './plan.ts'

export interface RolloutOptions {
  readonly createEnvironment: () => Environment
  readonly policy: Policy
  /** Of the run. */
  readonly seed: string
  readonly branch: readonly BranchPoint[]
  readonly signal: AbortSignal
  /** Milliseconds since the run began. */
  readonly now: () => number
}

/** One episode of a rollout. */
export interface PlayedAttempt {
  readonly attempt: number
  readonly episode: Episode
  readonly policySeed: string
  readonly branch: NonNullable<EpisodeRecord['branch']> | null
  /** Milliseconds since the run began. */
  readonly ended: number
}

/**
 * Plays a rollout: one episode, or a tree of them where there are branch points. A tree of L leaves that is rollout r of
 * its task has the attempts from r·L to (r+1)·L − 1, in the order of their paths. A line that is over before it could
 * branch counts for all the leaves that it would have had.
 */
export async function playRollout(
  { task, attempt: rollout }: PlannedEpisode,
  { createEnvironment, policy, seed, branch: points, signal, now }: RolloutOptions,
): Promise<PlayedAttempt[]> {
  const policySeed = seedFor(seed, 'policy', task.id, rollout)
  // The world's seed is the task's own: the run's seed decides the tasks, the policy's draws and the chance of forks.
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
    const first = rollout * leaves + placeOf(path, points)
    return Array.from({ length: copies }, (_, i) => ({ attempt: first + i, episode, policySeed, branch, ended }))
  })
}

/** How many leaves come before those at the end of a path. */
export function placeOf(path: readonly number[], points: readonly BranchPoint[]): number {
  return path.reduce((place, line, i) => place + line * countLeaves(points.slice(i + 1)), 0)
}
