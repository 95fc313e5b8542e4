import type { BranchPoint } from '@episodic/env'

/** How many episodes a rollout ends in that is forked at these points: 1 where there are none. */
export function countLeaves(points: readonly Pick<BranchPoint, 'lines'>[]): number {
  return points.reduce((leaves, { lines }) => leaves * lines, 1)
}
