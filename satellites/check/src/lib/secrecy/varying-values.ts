import type { JsonObject, Rng } from '@episodic/protocol'
import { leafDifferences } from '../leaf-differences.ts'
import { valueAt } from '../walk-json.ts'

/** Values that are kept of each kind of field, and of all. */
const KEPT_OF_KIND = 16
const KEPT = 2_000
/** Differing values from which on no further state is compared. */
const WALKED = 100_000

/** Returns what differs between large trees, by paths with dots: of each kind of field a few. */
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
    for (const [place, { path, from }] of leafDifferences(first, other)) {
      walked += 1
      const kind = kindOf(path)
      if (from !== undefined) kinds.set(kind, (kinds.get(kind) ?? new Map()).set(place, path))
    }
  }
  const drawn = [...kinds.values()].flatMap((met) => rng.shuffle([...met.values()]).slice(0, KEPT_OF_KIND))
  const places = drawn.slice(0, KEPT).map((path) => [path.join('.'), path] as const)
  const valuesIn = (part: JsonObject) => places.map(([place, path]) => [place, valueAt(part, path)])
  return parts.map((part) => Object.fromEntries(valuesIn(part).filter(([, value]) => value !== undefined)))
}
