import { StateError, type StateErrorCode } from '../state-error.ts'

/** What SQLite's primary codes mean to a store (https://sqlite.org/rescode.html); others: `store-unavailable`. */
const CODES: { readonly [errcode: number]: StateErrorCode } = {
  1: 'store-invalid', // SQLITE_ERROR: the tables are not those that our statements are made for
  5: 'store-locked', // SQLITE_BUSY
  6: 'store-locked', // SQLITE_LOCKED
  11: 'store-invalid', // SQLITE_CORRUPT
  26: 'store-invalid', // SQLITE_NOTADB
}

const ADVICE: { readonly [code: string]: string } = {
  'store-locked': 'It is open already, here or in another process. Close it there, or give each process its own file',
  'store-invalid': 'The file is damaged, or is not a database. Restore it from a copy, or name a new file',
  'store-unavailable': 'Nothing was applied. See that its folder exists, may be written and has room, and try again',
}

/**
 * Returns the `StateError` for a failure of SQLite at the file at `path`. If the file is locked, opening it fails for
 * good and another file has to be chosen; a store that is already open waits for the lock, so a call may be retried.
 */
export function sqliteFault(path: string, cause: unknown, doing: 'opening' | 'using' = 'using'): StateError {
  if (StateError.is(cause)) return cause
  const { errcode = 0, message } = cause as Error & { readonly errcode?: number }
  const code = CODES[errcode & 0xff] ?? 'store-unavailable'
  if (code === 'store-locked' && doing === 'using')
    return new StateError(
      'store-unavailable',
      `Another connection holds a lock on the store ${path} (${message}). Nothing was applied. Try again once it lets go.`,
      { cause },
    )
  return new StateError(code, `The store ${path} cannot be used (${message}). ${ADVICE[code]}.`, { cause })
}

export function orSqliteFault<T>(path: string, work: () => T, doing?: 'opening'): T {
  try {
    return work()
  } catch (cause) {
    throw sqliteFault(path, cause, doing)
  }
}
