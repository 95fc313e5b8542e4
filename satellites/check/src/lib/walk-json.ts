import type { Json, JsonObject } from '@episodic/protocol'
import { isObject } from '@episodic/protocol/internal'

export interface Leaf {
  readonly path: readonly string[]
  readonly value: Json
}

export function leavesOf(value: Json, path: readonly string[] = []): Leaf[] {
  if (typeof value !== 'object' || value === null) return [{ path, value }]
  return Object.entries(value).flatMap(([key, inner]) => leavesOf(inner as Json, [...path, key]))
}

export function* eachLeaf(value: Json): Generator<Json> {
  if (typeof value !== 'object' || value === null) yield value
  else for (const inner of Object.values(value)) yield* eachLeaf(inner as Json)
}

export function valueAt(value: Json | undefined, path: readonly string[]): Json | undefined {
  let at = value
  for (const key of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined
    at = (at as JsonObject)[key]
  }
  return at
}

/**
 * A JSON Schema and all of its subschemas, depth first, each with the path of the values that it describes; the path of
 * the root is empty. References are not followed.
 */
export function* walkSchema(
  schema: JsonObject,
  path = '',
): Generator<{ readonly path: string; readonly schema: JsonObject }> {
  yield { path, schema }
  for (const [name, inner] of Object.entries((schema.properties ?? {}) as JsonObject))
    yield* walkSchema(inner as JsonObject, path === '' ? name : `${path}.${name}`)
  for (const keyword of ['items', 'additionalProperties'] as const)
    if (isObject(schema[keyword])) yield* walkSchema(schema[keyword], `${path}[]`)
  for (const keyword of ['anyOf', 'oneOf', 'allOf', 'prefixItems'] as const)
    for (const inner of (schema[keyword] ?? []) as readonly Json[])
      if (isObject(inner)) for (const one of walkSchema(inner, path)) if (one.schema !== inner || path !== '') yield one
}
