import { formatZodError } from '@episodic/protocol/extend'
import type { SessionState } from '@episodic/state'
import { z } from 'zod'
import type { EnvironmentDefinition } from './environment.ts'

/** What in a state from a store does not fit the schemas of its environment. */
export interface Misfit {
  readonly part: 'public' | 'private'
  /** What the schema says, without repeating values. */
  readonly problem: string
}

/**
 * Finds where a state that was kept by an earlier server does not fit the state schemas of the environment that is
 * served now, as it happens where the schemas changed and the version did not. A key that is not declared any more is
 * no misfit. A schema that transforms values is not asked: it describes what rules write, and not what it reads.
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

/** Types of schemas that may give out another value than they were given. */
const CHANGING = new Set<string>(['pipe', 'transform', 'prefault', 'success', 'catch'])

/** Answers by schema: there is one pair for each environment, and sessions are read by the thousand. */
const known = new WeakMap<z.ZodType, boolean>()

function readsWhatItWrites(schema: z.ZodType): boolean {
  const found = known.get(schema) ?? isRepresentable(schema)
  known.set(schema, found)
  return found
}

/** A schema with a pipe or a transform in it gives out something else than it takes. */
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
