import type { Json } from '@episodic/protocol'
import type { SessionState } from '@episodic/state'
import { partName } from '@episodic/state/internal'
import { leavesOf } from '../walk-json.ts'

/**
 * Returns the values by which rules find what belongs together: what is public, and the keys of objects. If a check
 * replaced one of these, rules would find nothing.
 *
 * @param keys - those that are known. Default: all of the state, which is small.
 */
export function referencesIn(state: SessionState, keys?: ReadonlySet<string>): ReadonlySet<Json> {
  const open = partName(state.public) === null ? leavesOf(state.public).map(({ value }) => value) : []
  return new Set([...open.filter(isUnlikely), ...(keys ?? keysIn([state.private, { ...state.own }]))])
}

/** Digits from which on equal numbers are not by chance. */
const LEAST_DIGITS = 3

/** Returns whether places that hold a value belong together. An empty text and a small number are in many. */
function isUnlikely(value: Json): boolean {
  return typeof value === 'number' ? String(Math.abs(value)).length >= LEAST_DIGITS : value !== ''
}

function keysIn(value: Json): readonly string[] {
  if (typeof value !== 'object' || value === null) return []
  const own = Array.isArray(value) ? [] : Object.keys(value)
  return [...own, ...Object.values(value).flatMap((inner) => keysIn(inner as Json))]
}
