import type { Json } from '@episodic/protocol'
import { differences } from '@episodic/state/internal'
import { leavesOf } from './walk-json.ts'

export interface LeafDifference {
  readonly path: readonly string[]
  readonly from: Json | undefined
  readonly to: Json | undefined
}

/**
 * Returns the leaves in which two trees differ, by their paths with dots; parts of large states at the cost of these.
 *
 * @param most - stops once there are more. Default: none.
 */
export function leafDifferences(
  before: unknown,
  after: unknown,
  most = Number.POSITIVE_INFINITY,
): ReadonlyMap<string, LeafDifference> {
  const found = new Map<string, LeafDifference>()
  for (const difference of differences(before, after)) {
    if (found.size > most) break
    for (const side of ['before', 'after'] as const) {
      if (difference[side] === undefined) continue
      const leaves = leavesOf(difference[side] as Json)
      // An empty object or array has none.
      for (const leaf of leaves.length > 0 ? leaves : [{ path: [], value: JSON.stringify(difference[side]) }]) {
        const path = [...difference.path, ...leaf.path]
        const place = path.join('.')
        const { from, to } = found.get(place) ?? { from: undefined, to: undefined }
        found.set(place, side === 'before' ? { path, from: leaf.value, to } : { path, from, to: leaf.value })
      }
    }
  }
  return found
}
