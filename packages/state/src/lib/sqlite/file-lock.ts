import { DatabaseSync } from 'node:sqlite'

/**
 * Holds the store at `path` for this process, until it is closed or the process dies in any way. The lock is the file
 * system's own, on an empty database beside the store, so that threads of this process can still share the store.
 * Throws SQLite's `SQLITE_BUSY` where somebody else holds it.
 */
export function lockStore(path: string): DatabaseSync {
  const lock = new DatabaseSync(`${path}-lock`)
  try {
    lock.exec('BEGIN EXCLUSIVE')
    return lock
  } catch (cause) {
    lock.close()
    throw cause
  }
}
