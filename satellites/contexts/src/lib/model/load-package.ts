import { createRequire } from 'node:module'
import { missingPackage } from '@episodic/protocol/internal'
import { ContextError } from './context-error.ts'

const require = createRequire(import.meta.url)

/**
 * Loads a package that only some conversations need, at once: what needs it is not asynchronous. Throws
 * `package-missing` if it is not installed.
 *
 * @param user What needs it.
 * @param install What npm is to install.
 */
export function loadPackage<T>(name: string, user: string, install: string): T {
  try {
    return require(name)
  } catch (cause) {
    const message = missingPackage(cause, user, install)
    throw message === null ? cause : new ContextError('package-missing', message, { cause })
  }
}
