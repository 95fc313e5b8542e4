import { formatZodError } from '@episodic/protocol/extend'
import type { SessionState } from '@episodic/state'
import { z } from 'zod'
import type { EnvironmentDefinition } from './environment.ts'

/** A part of a stored state that does not fit the schemas of its environment. */
export interface Misfit {
  readonly part: 'public' | 'private'
  /** What the schema says, without repeating values. */
  readonly problem: string
}

/**
 * Returns the first part of a stored state that does not fit the state schemas of the served environment; `null` if
 * both fit. That happens if the schemas changed and the version did not. A key that is not declared any more is not a
 * misfit. A schema that transforms values is not checked: it describes its input, and the store holds its output.
 */
export function findMisfit(environment: EnvironmentDefinition, state: SessionState): Misfit | null {
  for (const part of ['public', 'private'] as const) {
    const schema = environment.state[part]
    if (!readsWhatItWrites(schema)) continue
    const parsed = schema.safeParse(state[part])
    if (!parsed.success) return { part, problem: formatZodError(parsed.error) }
  }
  return null
}

/** Types of schemas whose output may differ from their input. */
const CHANGING = new Set<string>(['pipe', 'transform', 'prefault', 'success', 'catch'])

/** Cached results by schema: there is one pair for each environment, and sessions are read by the thousand. */
const known = new WeakMap<z.ZodType, boolean>()

function readsWhatItWrites(schema: z.ZodType): boolean {
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
