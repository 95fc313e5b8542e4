import { EnvError } from '../env-error.ts'
import type { CallOptions } from '../environment/environment.ts'

/**
 * Runs a part of an external environment's definition. What its code throws becomes `rules-failed`, what its server did
 * keeps its code, and after an abort the signal's own reason is thrown.
 */
export async function runRule<T>(part: string, { signal }: CallOptions, run: () => T | Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (cause) {
    signal?.throwIfAborted()
    if (EnvError.is(cause)) throw cause
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new EnvError('rules-failed', `The ${part} of the external environment failed: ${why}`, { cause })
  }
}
