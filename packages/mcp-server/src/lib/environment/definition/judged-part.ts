import type { z } from 'zod'

export interface JudgedPart {
  readonly schema: z.core.$ZodType
  readonly value: unknown
  /** The rest of the way, within it. */
  readonly rest: readonly string[]
}

/**
 * Returns the innermost part on the way to a place in a value that its schema judges by itself, whatever is around it:
 * what to parse again if the value has changed there alone. `null` where a row was removed.
 */
export function judgedPart(schema: z.core.$ZodType, value: unknown, path: readonly string[]): JudgedPart | null {
  const [key, ...inside] = path
  const { def } = (schema as z.core.$ZodTypes)._zod
  if (key === undefined || typeof value !== 'object' || value === null || def.checks?.length)
    return { schema, value, rest: path }
  const inner = Object.hasOwn(value, key) ? (value as Readonly<Record<string, unknown>>)[key] : undefined
  switch (def.type) {
    case 'object': {
      const field = Object.hasOwn(def.shape, key) ? def.shape[key] : undefined
      return field && inner !== undefined ? judgedPart(field, inner, inside) : { schema, value, rest: path }
    }
    case 'record':
      if (!isAnyText(def.keyType)) return { schema, value, rest: path }
      return inner === undefined ? null : judgedPart(def.valueType, inner, inside)
    case 'array':
      return inner === undefined ? null : judgedPart(def.element, inner, inside)
    case 'optional':
    case 'nullable':
    case 'default':
    case 'nonoptional':
    case 'readonly':
      return judgedPart(def.innerType, value, path)
    case 'lazy':
      return judgedPart(def.getter(), value, path)
    default:
      return { schema, value, rest: path }
  }
}

function isAnyText(schema: z.core.$ZodType): boolean {
  const { def } = (schema as z.core.$ZodTypes)._zod
  return def.type === 'string' && !def.checks?.length
}
