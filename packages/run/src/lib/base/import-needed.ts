import { missingPackage } from '@episodic/protocol/internal'
import { invalidOption } from './harness-error.ts'

/**
 * Imports what needs a package that only some users need. Rejects with `option-invalid` and the line that installs it
 * if it is not installed.
 */
export async function importNeeded<T>(user: string, install: string, load: () => Promise<T>): Promise<T> {
  return load().catch((cause: unknown) => {
    const message = missingPackage(cause, user, install)
    throw message === null ? cause : invalidOption(message, { cause })
  })
}
