import type { JsonObject, Rng } from '@episodic/protocol'
import { differences } from '@episodic/state/internal'
import { leavesOf, valueAt } from '../walk-json.ts'

/** Values that are kept of each kind of field, and of all. */
const KEPT_OF_KIND = 16
const KEPT = 2_000
/** Differing values from which on no further state is compared. */
const WALKED = 100_000

export function varyingValues(
  parts: readonly JsonObject[],
  kindOf: (path: readonly string[]) => string,
  rng: Rng,
): JsonObject[] {
  const [first, ...others] = parts
  const kinds = new Map<string, Map<string, readonly string[]>>()
  let walked = 0
  for (const other of others) {
    if (walked > WALKED) break
    for (const difference of differences(first, other))
      for (const leaf of leavesOf((difference.before ?? {}) as JsonObject)) {
        walked += 1
        const path = [...difference.path, ...leaf.path]
        const kind = kindOf(path)
        kinds.set(kind, (kinds.get(kind) ?? new Map()).set(path.join('.'), path))
      }
  }
  const places = [...kinds.values()].flatMap((met) => rng.shuffle([...met.values()]).slice(0, KEPT_OF_KIND))
  return parts.map((part) => withPlaces(part, places.slice(0, KEPT)))
}

function withPlaces(part: JsonObject, places: readonly (readonly string[])[]): JsonObject {
  const kept = {}
  for (const path of places) {
    const value = valueAt(part, path)
    if (value === undefined) continue
    let holder: Record<string, unknown> = kept
    for (const key of path.slice(0, -1)) {
      const inner = holder[key] ?? {}
      holder[key] = inner
      holder = inner as Record<string, unknown>
    }
    holder[path.at(-1) as string] = value
  }
  return kept
}
