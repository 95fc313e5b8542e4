import type { EpisodeRecord } from '@episodic/protocol'

/** Returns which continuation a step of an episode is in, by the forks before it; empty before the first. */
export function branchAt({ branch }: Pick<EpisodeRecord, 'branch'>, step: number): readonly number[] {
  return branch ? branch.path.slice(0, branch.at.filter((at) => at <= step).length) : []
}
