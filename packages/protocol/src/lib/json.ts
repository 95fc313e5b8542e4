import { z } from 'zod'

/** A value that survives JSON unchanged: no `undefined`, functions, dates, NaN or infinities. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject

/** An object of JSON values: state, parameters, tool arguments and structured answers are all one. */
export type JsonObject = { readonly [key: string]: Json }

/** Accepts exactly what {@link Json} says. Drops keys named `__proto__`, which no plain object carries safely. */
export const jsonSchema: z.ZodType<Json> = z.json() as z.ZodType<Json>

/** Accepts a JSON object, not an array and not a bare value. */
export const jsonObjectSchema: z.ZodType<JsonObject> = z.record(z.string(), jsonSchema)

/**
 * Says where `value` stops being plain JSON, or `null` when all of it is.
 *
 * State has to survive a store and a replay unchanged, and `JSON.stringify` silently drops or rewrites what it
 * cannot say (`undefined`, `NaN`, `-0`, a `Date`, a `Map`), so the host asks before it commits.
 */
export function findNonJson(value: unknown, path = '$'): string | null {
  switch (typeof value) {
    case 'string':
      return value.isWellFormed() ? null : `${path} holds a lone surrogate`
    case 'boolean':
      return null
    case 'number':
      if (!Number.isFinite(value)) return `${path} is ${value}`
      return Object.is(value, -0) ? `${path} is -0` : null
    case 'object':
      return value === null ? null : findInObject(value, path)
    default:
      return `${path} is ${typeof value === 'undefined' ? 'undefined' : `a ${typeof value}`}`
  }
}

function findInObject(value: object, path: string): string | null {
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const found = findNonJson(value[i], `${path}[${i}]`)
      if (found) return found
    }
    return null
  }
  const prototype = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null)
    return `${path} is a ${value.constructor?.name ?? 'class instance'}`
  for (const key in value) {
    if (!key.isWellFormed()) return `${path} has a key with a lone surrogate`
    const found = findNonJson((value as Record<string, unknown>)[key], `${path}.${key}`)
    if (found) return found
  }
  return null
}
