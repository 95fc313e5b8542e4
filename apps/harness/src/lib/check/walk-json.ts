import type { Json, JsonObject } from '@episodic/protocol'

/** A leaf of a JSON tree: a value that is neither an object nor an array, with the keys that lead to it. */
export interface Leaf {
  readonly path: readonly string[]
  readonly value: Json
}

/** The leaves of a tree, in order. An empty array or object has none. */
export function leavesOf(value: Json, path: readonly string[] = []): Leaf[] {
  if (typeof value !== 'object' || value === null) return [{ path, value }]
  return Object.entries(value).flatMap(([key, inner]) => leavesOf(inner as Json, [...path, key]))
}

/** A copy of a tree with the leaf at a path replaced. */
export function replaceAt(value: Json, [key, ...rest]: readonly string[], leaf: Json): Json {
  if (key === undefined) return leaf
  if (Array.isArray(value))
    return value.map((inner, i) => (String(i) === key ? replaceAt(inner as Json, rest, leaf) : (inner as Json)))
  const object = value as JsonObject
  return { ...object, [key]: replaceAt(object[key] as Json, rest, leaf) }
}

/** A subschema with the path of the values that it describes; the path of the root is empty. */
export interface InnerSchema {
  readonly path: string
  readonly schema: JsonObject
}

/** A JSON Schema and all of its subschemas, depth first. References are not followed. */
export function* walkSchema(schema: JsonObject, path = ''): Generator<InnerSchema> {
  yield { path, schema }
  for (const [name, inner] of Object.entries((schema.properties ?? {}) as JsonObject))
    yield* walkSchema(inner as JsonObject, path === '' ? name : `${path}.${name}`)
  for (const keyword of ['items', 'additionalProperties'] as const)
    if (isSchema(schema[keyword])) yield* walkSchema(schema[keyword], `${path}[]`)
  for (const keyword of ['anyOf', 'oneOf', 'allOf', 'prefixItems'] as const)
    for (const inner of (schema[keyword] ?? []) as readonly Json[])
      if (isSchema(inner)) for (const one of walkSchema(inner, path)) if (one.schema !== inner || path !== '') yield one
}

function isSchema(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
