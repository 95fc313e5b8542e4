import type { Json, JsonObject } from '@episodic/protocol'

/** A schema within a schema; `path` is that of the values it speaks of, empty for the whole. */
export interface InnerSchema {
  readonly path: string
  readonly schema: JsonObject
}

/** A JSON Schema and every schema in it, depth first. References are not followed. */
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
