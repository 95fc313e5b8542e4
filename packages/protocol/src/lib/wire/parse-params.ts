import type { z } from 'zod'
import { formatZodError } from '../base/format-zod-error.ts'
import type { JsonObject } from '../base/json.ts'
import { findUnknownKeys, formatUnknownKeys } from '../base/unknown-keys.ts'
import { invalidParams } from './wire-error.ts'

/**
 * Returns the parameters of an environment with defaults filled in. Throws `invalid-params` for what its schema
 * rejects, and for a parameter that it does not know, at any depth: its default would be played in the place of what
 * was meant.
 */
export function parseParams(
  { name, params: schema }: { readonly name: string; readonly params: z.ZodType },
  given: JsonObject,
): JsonObject {
  const unknown = findUnknownKeys(schema, given)
  if (unknown.length > 0) throw invalidParams(`Unknown parameters of ${name}: ${formatUnknownKeys(unknown)}`)
  const parsed = schema.safeParse(given)
  if (parsed.success) return parsed.data as JsonObject
  throw invalidParams(`Wrong parameters for ${name}: ${formatZodError(parsed.error, given)}.`)
}
