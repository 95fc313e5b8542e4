import type { JsonObject, Rng } from '@episodic/protocol'
import { differences } from '@episodic/state/internal'
import { leavesOf, valueAt } from '../walk-json.ts'

/** Values that are kept of each kind of field, and of all. */
const KEPT_OF_KIND = 16
const KEPT = 2_000
/** Differing values from which on no further state is compared. */
const WALKED = 1_000_000

export function varyingValues(
  parts: readonly JsonObject[],
  kindOf: (path: readonly string[]) => string,
  rng: Rng,
): JsonObject[] {
  const [first, ...others] = parts
  const kinds = new Map<string, { met: number; readonly kept: Map<string, readonly string[]> }>()
  let walked = 0
  for (const other of others) {
    if (walked > WALKED) break
    for (const difference of differences(first, other))
      for (const leaf of leavesOf((difference.before ?? {}) as JsonObject)) {
        walked += 1
        const path = [...difference.path, ...leaf.path]
        const kind = kindOf(path)
        const known = kinds.get(kind) ?? { met: 0, kept: new Map() }
        kinds.set(kind, known)
        keepSome(known, path, rng)
      }
  }
  const places = [...kinds.values()].flatMap(({ kept }) => [...kept.values()]).slice(0, KEPT)
  return parts.map((part) => withPlaces(part, places))
}

function keepSome(
  known: { met: number; readonly kept: Map<string, readonly string[]> },
  path: readonly string[],
  rng: Rng,
): void {
  const place = path.join('.')
  if (known.kept.has(place)) return
  known.met += 1
  if (known.kept.size >= KEPT_OF_KIND) {
    const [left] = known.kept.keys()
    if (rng.int(1, known.met) > KEPT_OF_KIND) return
    known.kept.delete(left as string)
  }
  known.kept.set(place, path)
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
