import { canonicalJson } from './canonical-json.ts'
import { sha256Hex } from './digest.ts'
import type { Json } from './json.ts'

/**
 * Returns the SHA-256 of a JSON value in its canonical form as 64 hexadecimal digits: the same in every world and
 * version, whatever the order of keys. Throws a `TypeError` for a value that is not JSON.
 *
 * @param without - paths of what is left out, such as ids that chance has made: `'bills.*.id'`, where `*` is any key or
 *   index. One that leads nowhere leaves out nothing. Default: none.
 */
export function hashOfPart(value: Json, { without = [] }: { readonly without?: readonly string[] } = {}): string {
  const paths = without.map((path) => path.split('.'))
  return sha256Hex(canonicalJson(leaveOut(value, paths)))
}

/** Returns a value without what the paths name; `*` is any key or index. */
export function leaveOut(value: Json, paths: readonly (readonly string[])[]): Json {
  if (paths.length === 0 || typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).flatMap(([key, part]): [string, Json][] => {
    const inner = paths.filter(([first]) => first === key || first === '*').map((path) => path.slice(1))
    return inner.some((path) => path.length === 0) ? [] : [[key, leaveOut(part, inner)]]
  })
  return Array.isArray(value) ? kept.map(([, part]) => part) : Object.fromEntries(kept)
}
