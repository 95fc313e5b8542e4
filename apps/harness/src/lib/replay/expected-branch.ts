import { type EpisodeRecord, seedFor } from '@episodic/protocol'
import type { RunConfiguration } from '../run/configuration.ts'
import { countLeaves } from '../run/count-leaves.ts'
import { placeOf } from '../run/play-rollout.ts'

type Planned = Pick<RunConfiguration, 'seed' | 'branch'>

/** An episode of a run, and the lines of its tree that it went along; the path is empty where there is no tree. */
interface Place {
  readonly task: string
  readonly attempt: number
  readonly path: readonly number[]
}

/**
 * The branch that a run records for the episode that went along `path`; `null` where the run forks nothing, and where no
 * such path leads to that attempt.
 */
export function expectedBranch(
  { seed, branch: points }: Planned,
  { task, attempt, path }: Place,
): NonNullable<EpisodeRecord['branch']> | null {
  if (points.length === 0 || path.length > points.length) return null
  if (path.some((line, i) => line >= (points[i]?.lines ?? 0))) return null
  const leaves = countLeaves(points)
  const rollout = Math.floor(attempt / leaves)
  const copies = countLeaves(points.slice(path.length))
  const first = rollout * leaves + placeOf(path, points)
  if (attempt < first || attempt >= first + copies) return null
  const branchSeed = seedFor(seed, 'branch', task, rollout)
  const seeds = path.map((line, i) =>
    line === 0 ? null : seedFor(seedFor(branchSeed, 'point', ...path.slice(0, i)), 'fork', line - 1),
  )
  return { rollout, leaves, copies, path, at: path.map((_, i) => points[i]?.at ?? 0), seeds }
}

/** The seed of the policy that plays an episode: a fork has one of its own, which its later trunk keeps. */
export function expectedPolicySeed({ seed, branch: points }: Planned, { task, attempt, path }: Place): string {
  const own = seedFor(seed, 'policy', task, Math.floor(attempt / countLeaves(points)))
  const forked = path.findLastIndex((line) => line !== 0)
  return forked < 0 ? own : seedFor(own, 'line', ...path.slice(0, forked + 1))
}
