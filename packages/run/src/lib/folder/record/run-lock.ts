import { accessSync, closeSync, constants, existsSync, lstatSync, openSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { shownPath } from '../../base/console.ts'
import { HarnessError } from '../../base/harness-error.ts'
import { makeFolder } from '../../base/own-files.ts'
import { RUN_FILES } from './run-folder.ts'

const { O_CREAT, O_RDWR, O_NOFOLLOW, O_NONBLOCK, W_OK, X_OK } = constants

/**
 * Locks a run's folder, creating it if necessary, so that no other process writes to it until the lock is disposed.
 *
 * It is a file lock of the operating system, taken by SQLite on every platform: it ends with its process, however that
 * ends, and leaves an empty file. Throws `run-locked` if another process holds it, and `disk-failed`. Call its
 * `assertHeld` before each write.
 */
export function lockRun(folder: string) {
  const file = join(folder, RUN_FILES.lock)
  let database: DatabaseSync | null = null
  try {
    makeFolder(folder)
    // SQLite would follow a link, wait for the other end of a pipe, and undo what a journal beside a file says.
    closeSync(openSync(file, O_CREAT | O_RDWR | O_NOFOLLOW | O_NONBLOCK))
    if (!isLockFile(file)) throw new Error(`${shownPath(file)} is not an empty file, so it is no lock: remove it`)
    database = new DatabaseSync(file)
    // Who looks whether a process holds the lock has a lock of its own for some microseconds.
    database.exec('PRAGMA busy_timeout = 250')
    // The transaction never writes, so a full disk does not affect it.
    database.exec('BEGIN EXCLUSIVE')
  } catch (cause) {
    database?.close()
    if (isBusy(cause))
      throw new HarnessError(
        'run-locked',
        `${shownPath(folder)} is being written by another process. Wait for it, stop it, or give another --out.`,
        { cause },
      )
    throw new HarnessError(
      'disk-failed',
      `Cannot write to ${shownPath(folder)}: ${reasonOf(folder, ((cause as Error).cause ?? cause) as Error)}. Give a writable --out.`,
      { cause },
    )
  }
  const held = database
  const own = fileAt(file)
  return {
    /**
     * Throws `run-locked` if the lock file was removed or replaced, so that another process may hold the folder too.
     * Takes some microseconds; call it before each write.
     */
    assertHeld(): void {
      if (own !== null && fileAt(file) === own) return
      throw new HarnessError(
        'run-locked',
        `${shownPath(file)} was removed or replaced while this run was writing, so another process may be writing too. Sealed episodes are kept. When no other process writes to the run, resume it.`,
      )
    },
    [Symbol.dispose]: () => held.close(),
  }
}

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

/** Whether a lock file is at a path: an empty file that is no link. */
function isLockFile(file: string): boolean {
  const found = lstatSync(file, { throwIfNoEntry: false })
  return found?.isFile() === true && found.size === 0
}

/** Identifies the file that is at a path now; `null` if there is none. */
function fileAt(path: string): string | null {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found ? `${found.dev} ${found.ino}` : null
}

/**
 * Returns why a folder, which may not exist, is not writable. Node and SQLite name only the folder that they could not
 * create, and not the read-only one above it.
 */
function reasonOf(folder: string, { message }: Error): string {
  let above = resolve(folder)
  while (!existsSync(above) && above !== dirname(above)) above = dirname(above)
  if (!statSync(above).isDirectory()) return `${shownPath(above)} is not a folder`
  try {
    accessSync(above, W_OK | X_OK)
    return message
  } catch (cause) {
    return `${shownPath(above)} is not writable (${(cause as NodeJS.ErrnoException).code})`
  }
}

/** SQLITE_BUSY; the higher bits hold details. */
function isBusy(cause: unknown): boolean {
  return ((cause as { errcode?: number }).errcode ?? 0) % 256 === 5
}
