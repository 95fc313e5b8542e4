import { DatabaseSync } from 'node:sqlite'

/**
 * Locks the store at `path` for this process, until the lock is closed or the process dies in any way. It is a lock of the
 * file system on an empty database beside the store, so that threads of this process can still share the store. Throws
 * SQLite's `SQLITE_BUSY` if another opener has the lock.
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
