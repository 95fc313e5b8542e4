import { formatZodError } from '@episodic/protocol/internal'
import type { SessionState } from '@episodic/state'
import { isLarge } from '@episodic/state/internal'
import { z } from 'zod'
import type { EnvironmentDefinition } from './environment.ts'

export interface Misfit {
  readonly part: string
  /** What the schema says, without repeating values. */
  readonly problem: string
}

/**
 * Returns the first part of a stored state that does not fit the state schemas of the served environment; `null` if
 * both fit. That happens if the schemas changed and the version did not. A key that is not declared any more is not a
 * misfit. A schema that transforms values is not checked: it describes its input, and the store holds its output.
 * Neither is a large state.
 */
export function findMisfit(environment: EnvironmentDefinition, state: SessionState): Misfit | null {
  // To read all of a large state would cost more than the call that needs it.
  if (isLarge(state)) return null
  for (const { part, schema, value } of partsOf(environment, state)) {
    if (!readsWhatItWrites(schema)) continue
    const parsed = schema.safeParse(value)
    if (!parsed.success) return { part, problem: formatZodError(parsed.error) }
  }
  return null
}

export function partsOf(
  { state: schemas }: EnvironmentDefinition,
  state: SessionState,
): { readonly part: string; readonly schema: z.ZodType; readonly value: unknown }[] {
  const { own } = schemas
  return [
    { part: 'public', schema: schemas.public, value: state.public },
    ...(own
      ? Object.entries(state.own ?? {}).map(([seat, value]) => ({ part: `own (${seat})`, schema: own, value }))
      : []),
    { part: 'private', schema: schemas.private, value: state.private },
  ]
}

/** Types of schemas whose output may differ from their input. */
const CHANGING = new Set<string>(['pipe', 'transform', 'prefault', 'success', 'catch'])

/** Cached results by schema: there is one pair for each environment, and sessions are read by the thousand. */
const known = new WeakMap<z.ZodType, boolean>()

/** Returns whether a schema changes no values, so that it accepts what it has returned. */
export function readsWhatItWrites(schema: z.ZodType): boolean {
  const found = known.get(schema) ?? isRepresentable(schema)
  known.set(schema, found)
  return found
}

function isRepresentable(schema: z.ZodType): boolean {
  try {
    z.toJSONSchema(schema, {
      io: 'output',
      override({ zodSchema }) {
        if (CHANGING.has(zodSchema._zod.def.type)) throw new TypeError('This schema changes values.')
      },
    })
    return true
  } catch {
    return false
  }
}
