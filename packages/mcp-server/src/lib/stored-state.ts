import type { SessionState } from '@episodic/state'
import { z } from 'zod'
import type { Environment } from './environment.ts'
import { explain } from './explain.ts'

/** What in a state from a store does not fit the schemas of its environment. */
export interface Misfit {
  readonly part: 'public' | 'private'
  /** What the schema says, without repeating values. */
  readonly problem: string
}

/**
 * Finds where a state that was kept by an earlier server does not fit the state schemas of the environment that is served now,
 * as it happens where the schemas changed and the version did not. A key that is not declared any more is no misfit. A
 * schema that transforms values is not asked: it describes what rules write, and not what it reads.
 */
export function findMisfit(environment: Environment, state: SessionState): Misfit | null {
  for (const part of ['public', 'private'] as const) {
    const schema = environment.state[part]
    if (!readsWhatItWrites(schema)) continue
    const parsed = schema.safeParse(state[part])
    if (!parsed.success) return { part, problem: explain(parsed.error) }
  }
  return null
}

/** Answers by schema: there is one pair for each environment, and sessions are read by the thousand. */
const known = new WeakMap<z.ZodType, boolean>()

function readsWhatItWrites(schema: z.ZodType): boolean {
  const found = known.get(schema) ?? isRepresentable(schema)
  known.set(schema, found)
  return found
}

/** JSON Schema cannot say what a transform gives out. */
function isRepresentable(schema: z.ZodType): boolean {
  try {
    z.toJSONSchema(schema, { io: 'output' })
    return true
  } catch {
    return false
  }
}
