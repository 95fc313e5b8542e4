import { findNonJson, type JsonObject } from '@episodic/protocol'
import { formatZodError, isObject } from '@episodic/protocol/internal'
import { freezeAll, isFrozenWhole, partName } from '@episodic/state/internal'
import { z } from 'zod'

/** Parsed values that are frozen at every depth, by what was parsed and its schema. */
const parsedOnce = new WeakMap<object, Map<z.ZodType, object>>()

/** Schemas of parts, without the fields that were parsed before, by the names of these. */
const schemasOfRest = new WeakMap<z.ZodType, Map<string, z.ZodType>>()

/**
 * Returns a part of an initial state as its schema parses it, so without undeclared keys; or the problem, as a text.
 *
 * A field whose value is frozen at every depth, such as a database that a module has read, is parsed once: sessions
 * that begin with the same one get the same object. What is a part of another state was parsed when that began.
 */
export function parseStartPart(schema: z.ZodType, value: unknown): JsonObject | string {
  if (partName(value) !== null) return value as JsonObject
  const fields = frozenFields(schema, value)
  if (fields.length === 0) return parse(schema, value)
  const known: Record<string, object> = {}
  for (const [field, fieldSchema, frozen] of fields) {
    const parsed = parseOnce(fieldSchema, frozen)
    // The whole part says where in it the problem is.
    if (typeof parsed === 'string') return parse(schema, value)
    known[field] = parsed
  }
  const names = Object.keys(known)
  const nothing = Object.fromEntries(names.map((name) => [name, null]))
  const rest = parse(schemaOfRest(schema as z.ZodObject, names), { ...(value as object), ...nothing })
  return typeof rest === 'string' ? rest : ({ ...rest, ...known } as JsonObject)
}

function parse(schema: z.ZodType, value: unknown): JsonObject | string {
  const parsed = schema.safeParse(value)
  if (!parsed.success) return formatZodError(parsed.error)
  return findNonJson(parsed.data) ?? (parsed.data as JsonObject)
}

/** Returns the fields with frozen values. A schema that checks its fields together has to see all of them. */
function frozenFields(schema: z.ZodType, value: unknown): (readonly [string, z.ZodType, object])[] {
  if (!(schema instanceof z.ZodObject) || !isObject(value) || schema.def.checks?.length) return []
  return Object.entries(schema.shape as Record<string, z.ZodType>).flatMap(([field, fieldSchema]) => {
    const frozen: unknown = value[field]
    return isFrozenWhole(frozen) ? [[field, fieldSchema, frozen] as const] : []
  })
}

function parseOnce(schema: z.ZodType, value: object): object | string {
  if (partName(value) !== null) return value
  const known = parsedOnce.get(value) ?? new Map<z.ZodType, object>()
  parsedOnce.set(value, known)
  const before = known.get(schema)
  if (before) return before
  const parsed = parse(schema, value)
  if (typeof parsed === 'object') known.set(schema, freezeAll(parsed))
  return parsed
}

function schemaOfRest(schema: z.ZodObject, names: readonly string[]): z.ZodType {
  const known = schemasOfRest.get(schema) ?? new Map<string, z.ZodType>()
  schemasOfRest.set(schema, known)
  const key = JSON.stringify(names)
  const rest = known.get(key) ?? schema.extend(Object.fromEntries(names.map((name) => [name, z.null()])))
  known.set(key, rest)
  return rest
}
