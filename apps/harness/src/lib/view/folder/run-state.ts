import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { RUN_FILES } from '../../run-folder/record/run-folder.ts'
import { isLockFile } from '../../run-folder/record/run-lock.ts'

/** Whether a process plays a run: it holds the lock of the folder, see `lockRun`. */
export function isRunning(folder: string): boolean {
  const file = join(folder, RUN_FILES.lock)
  if (!isLockFile(file)) return false
  let database: DatabaseSync | null = null
  try {
    database = new DatabaseSync(file, { readOnly: true })
    // Reading needs a shared lock, which nobody else can have beside an exclusive one.
    database.prepare('SELECT count(*) FROM sqlite_schema').get()
    return false
  } catch (error) {
    return isBusy(error)
  } finally {
    database?.close()
  }
}

/** SQLITE_BUSY; the higher bits hold details. */
function isBusy(cause: unknown): boolean {
  return ((cause as { errcode?: number }).errcode ?? 0) % 256 === 5
}
