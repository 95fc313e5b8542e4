import type { Json, JsonObject } from '@episodic/protocol'

/** A value of a JSON tree that holds no others, with the keys that lead to it. */
export interface Leaf {
  readonly path: readonly string[]
  readonly value: Json
}

/** The leaves of a tree, in order. An empty list or object has none. */
export function leavesOf(value: Json, path: readonly string[] = []): Leaf[] {
  if (typeof value !== 'object' || value === null) return [{ path, value }]
  return Object.entries(value).flatMap(([key, inner]) => leavesOf(inner as Json, [...path, key]))
}

/** A copy of a tree with another leaf at a path. */
export function replaceAt(value: Json, [key, ...rest]: readonly string[], leaf: Json): Json {
  if (key === undefined) return leaf
  if (Array.isArray(value))
    return value.map((inner, i) => (String(i) === key ? replaceAt(inner as Json, rest, leaf) : (inner as Json)))
  const object = value as JsonObject
  return { ...object, [key]: replaceAt(object[key] as Json, rest, leaf) }
}
