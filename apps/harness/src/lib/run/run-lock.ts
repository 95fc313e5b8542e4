import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { shownPath } from '../console.ts'
import { HarnessError } from '../harness-error.ts'
import { RUN_FILES } from './run-folder.ts'

/**
 * Holds a run's folder, which is made where it is not there, so that nobody else writes to it until this is disposed of.
 *
 * It is the file system's own lock, as SQLite takes it on every platform: it dies with its process, however that ends, and
 * leaves an empty file that says nothing. Throws `run-locked` where somebody holds it, and `disk-failed`.
 */
export function lockRun(folder: string): Disposable {
  const file = join(folder, RUN_FILES.lock)
  let database: DatabaseSync | null = null
  try {
    mkdirSync(folder, { recursive: true })
    database = new DatabaseSync(file)
    // A transaction that never writes: it takes no room, and so no harm from a full disk.
    database.exec('BEGIN EXCLUSIVE')
  } catch (cause) {
    database?.close()
    if (isBusy(cause))
      throw new HarnessError(
        'run-locked',
        `${shownPath(folder)} is being written by another process. Wait for it or stop it, or give another --out.`,
        { cause },
      )
    throw new HarnessError('disk-failed', `Cannot write ${file}: ${(cause as Error).message}`, { cause })
  }
  const held = database
  return { [Symbol.dispose]: () => held.close() }
}

/** SQLITE_BUSY, with whatever detail there is in its higher bits. */
function isBusy(cause: unknown): boolean {
  return ((cause as { errcode?: number }).errcode ?? 0) % 256 === 5
}
