import canonicalize from 'canonicalize'
import type { Json } from './json.ts'

/**
 * Returns a JSON value in its canonical form (RFC 8785: sorted keys, no white space, shortest numbers), so
 * that equal values have equal texts. Used for comparing actions and for content ids.
 *
 * Throws a `TypeError` for a value that is not JSON.
 */
export function canonicalJson(value: Json): string {
  const sorted = sortKeys(value)
  // A value whose keys are in order is written by the engine itself, in half the time that the library takes.
  const text = sorted === undefined ? canonicalize(value) : JSON.stringify(sorted)
  if (text === undefined) throw new TypeError('canonicalJson needs a JSON value, and got undefined.')
  return text
}

/**
 * Returns a copy with the keys of every object in order; `undefined` if an object cannot keep that order, or for
 * non-JSON.
 */
function sortKeys(value: Json): Json | undefined {
  if (typeof value === 'string') return value.isWellFormed() ? value : undefined
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const items: Json[] = []
    for (const item of value) {
      const sorted = sortKeys(item)
      if (sorted === undefined) return undefined
      items.push(sorted)
    }
    return items
  }
  const copy: Record<string, Json> = {}
  for (const key of inOrder(Object.keys(value))) {
    const sorted = hasOwnOrder(key) ? undefined : sortKeys((value as Record<string, Json>)[key] as Json)
    if (sorted === undefined) return undefined
    copy[key] = sorted
  }
  return copy
}

/**
 * Sorts keys by their UTF-16 code units, in place. Insertion takes half the time of `sort` for the few keys that objects
 * of records have, most of them in order.
 */
function inOrder(keys: string[]): string[] {
  if (keys.length > MOST_INSERTED) return keys.sort()
  for (let i = 1; i < keys.length; i++) {
    const key = keys[i] as string
    let place = i
    for (; place > 0 && (keys[place - 1] as string) > key; place--) keys[place] = keys[place - 1] as string
    keys[place] = key
  }
  return keys
}

/** More keys than these are sorted by the engine: insertion takes time by the square of their number. */
const MOST_INSERTED = 24

/**
 * Whether objects ignore the order of a key: one that starts with a digit may be an index, and `__proto__` is special.
 */
function hasOwnOrder(key: string): boolean {
  const first = key.charCodeAt(0)
  return (first >= DIGIT_0 && first <= DIGIT_9) || key === '__proto__' || !key.isWellFormed()
}

const DIGIT_0 = 48
const DIGIT_9 = 57
