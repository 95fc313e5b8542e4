import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { shownPath } from '../console.ts'
import { HarnessError } from '../harness-error.ts'
import { RUN_FILES } from './run-folder.ts'

/** A run's folder that is held. */
export interface RunLock extends Disposable {
  /**
   * Throws `run-locked` where the lock is not ours any more: its file was removed or replaced, so that another process may
   * hold the folder too. Takes some microseconds; to be called before each write.
   */
  assertHeld(): void
}

/**
 * Holds a run's folder, which is made where it is not there, so that nobody else writes to it until this is disposed of.
 *
 * It is the file system's own lock, as SQLite takes it on every platform: it dies with its process, however that ends, and
 * leaves an empty file that says nothing. Throws `run-locked` where somebody holds it, and `disk-failed`.
 */
export function lockRun(folder: string): RunLock {
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
    throw new HarnessError(
      'disk-failed',
      `Cannot write to ${shownPath(folder)}: ${reasonOf(folder, cause as Error)}. Give an --out that can be written to.`,
      { cause },
    )
  }
  const held = database
  const own = fileAt(file)
  return {
    assertHeld() {
      if (own !== null && fileAt(file) === own) return
      throw new HarnessError(
        'run-locked',
        `${shownPath(file)} was removed or replaced while this run was writing, so that another process may be writing too. What is sealed is kept. Once no other process writes to the run, resume it.`,
      )
    },
    [Symbol.dispose]: () => held.close(),
  }
}

/** Names the file that is at a path now; `null` where there is none. */
function fileAt(path: string): string | null {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found ? `${found.dev} ${found.ino}` : null
}

/**
 * Why nothing can be written in a folder, which need not be there. Node and SQLite name what they tried last, such as a
 * folder that could not be made, and not the one above it that may not be written to.
 */
function reasonOf(folder: string, { message }: Error): string {
  let above = resolve(folder)
  while (!existsSync(above) && above !== dirname(above)) above = dirname(above)
  if (!statSync(above).isDirectory()) return `${shownPath(above)} is no folder`
  try {
    accessSync(above, constants.W_OK | constants.X_OK)
    return message
  } catch (cause) {
    return `${shownPath(above)} may not be written to (${(cause as NodeJS.ErrnoException).code})`
  }
}

/** SQLITE_BUSY, with whatever detail there is in its higher bits. */
function isBusy(cause: unknown): boolean {
  return ((cause as { errcode?: number }).errcode ?? 0) % 256 === 5
}
