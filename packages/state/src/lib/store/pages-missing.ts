import { StateError } from '../state-error.ts'

/** Returns the error for a session that names a pool which does not exist. */
export function pagesMissing(id: string, pool: string): StateError {
  return new StateError(
    'pages-missing',
    `Session ${id} was to begin with the pages of ${pool}, which the store does not have. Create it with these pages, or begin elsewhere.`,
    { details: { pool } },
  )
}
