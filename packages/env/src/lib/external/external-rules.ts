import { EnvError } from '../env-error.ts'
import type { CallOptions } from '../environment/environment.ts'

/**
 * Runs a part of an external environment's definition. An error of its code becomes `rules-failed`, an `EnvError` of
 * its server is rethrown, and after an abort the signal's reason is thrown.
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
