import type { z } from 'zod'
import { type FieldProblem, problemsOf, unknownKey } from './task-problem.ts'

/** A row's parameters with defaults filled in, and the problems that the schema found. */
export interface CheckedParams {
  readonly params: unknown
  readonly problems: readonly FieldProblem[]
}

/**
 * Parses parameters with an environment's schema. A key that the schema drops is a problem: most schemas ignore unknown
 * keys, and a misspelt parameter would silently have its default.
 */
export function checkParams(schema: z.ZodType, params: unknown): CheckedParams {
  const read = schema.safeParse(params)
  if (!read.success) return { params, problems: problemsOf(read.error, 'params', ['params']) }
  return { params: read.data, problems: droppedKeys(params, read.data).map((key) => unknownKey(['params', key])) }
}

function droppedKeys(given: unknown, kept: unknown): string[] {
  if (typeof given !== 'object' || given === null || typeof kept !== 'object' || kept === null) return []
  return Object.keys(given).filter((key) => !Object.hasOwn(kept, key))
}
