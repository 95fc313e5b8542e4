import { randomUUID } from 'node:crypto'
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs'
import { type FileHandle, open, readdir, realpath, rename, rm } from 'node:fs/promises'
import { basename, dirname, join, sep } from 'node:path'
import { shownPath } from './console.ts'
import { HarnessError } from './harness-error.ts'

// How commands write files. A folder of a run may come from a stranger, with links in it that lead anywhere: nothing
// here follows a link at the path that it writes, and no name of a draft can be known before.

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDWR } = constants

/** The end of the name of a draft: what a process that was killed leaves behind. */
const DRAFT = '.part'

/**
 * Makes a folder, and those above it that are missing. Throws `disk-failed`. The `recursive` of Node never returns
 * where a folder that is there takes no other, such as `/proc`.
 */
export function makeFolder(folder: string, mode?: number): void {
  if (isFolder(folder)) return
  if (dirname(folder) !== folder) makeFolder(dirname(folder), mode)
  try {
    mkdirSync(folder, mode)
  } catch (error) {
    // Another process may have made it.
    if (!isFolder(folder)) throw cannotWrite(folder, error as Error)
  }
}

function isFolder(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory()
}

/**
 * Writes a file that is there as a whole or not at all, and makes its folder. Resolves with its path; rejects with
 * `disk-failed`, and with what `content` throws.
 */
export async function writeWhole(
  path: string,
  content: Parameters<typeof replaceFile>[1],
  signal?: AbortSignal,
): Promise<string> {
  try {
    makeFolder(dirname(path))
    await replaceFile(path, content, { signal })
    return path
  } catch (cause) {
    throw (cause as NodeJS.ErrnoException).syscall ? cannotWrite(path, cause as Error) : cause
  }
}

export function cannotWrite(path: string, cause: Error): HarnessError {
  return new HarnessError('disk-failed', `Cannot write ${shownPath(path)}: ${cause.message}`, { cause })
}

/**
 * Writes a file that is there as a whole or not at all: under the name of a draft, then renamed. A link at its path is
 * replaced and not followed. Rejects with the errors of the file system, and with what `content` throws.
 *
 * @param mode - its permissions. Default: those that the process gives to new files.
 */
export async function replaceFile(
  path: string,
  content: Parameters<FileHandle['writeFile']>[0],
  { mode, signal }: { readonly mode?: number; readonly signal?: AbortSignal | undefined } = {},
): Promise<void> {
  // A name that nobody can know before.
  const draft = `${path}.${randomUUID()}${DRAFT}`
  // Fails if there is anything at that name, also a link.
  const file = await open(draft, 'wx', mode)
  try {
    try {
      await file.writeFile(content, { signal })
      // Else a power failure may leave the new name with nothing in it.
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(draft, path)
  } catch (error) {
    await rm(draft, { force: true }).catch(() => {})
    throw error
  }
}

/** Whether a path, with its links resolved, lies in a folder, which is given without links. */
export async function isWithin(path: string, root: string): Promise<boolean> {
  const real = await realpath(path).catch(() => null)
  return real !== null && (real === root || real.startsWith(join(root, sep)))
}

/** Removes the drafts of files that a process that was killed has left. */
export async function removeDrafts(folder: string, names: readonly string[]): Promise<void> {
  for (const entry of await readdir(folder).catch(() => []))
    if (entry.endsWith(DRAFT) && names.some((name) => entry.startsWith(`${name}.`)))
      await rm(join(folder, entry), { force: true }).catch(() => {})
}

/**
 * Opens a file for reading and appending, and creates it if there is none. Rejects if it is a link or no regular file,
 * or has another name too, which may be anywhere; and with the errors of the file system.
 */
export async function openToAppend(path: string, mode?: number): Promise<FileHandle> {
  // Opening a pipe would wait for its other end.
  const file = await open(path, O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_RDWR, mode)
  const found = await file.stat()
  if (isOwn(found)) return file
  await file.close()
  throw notOwn(path)
}

/**
 * Appends a text to a file at once, and creates the file if there is none: a short text takes less time so than a
 * thread to write it. Throws as {@link openToAppend} rejects.
 */
export function appendNow(path: string, text: string, mode: number): void {
  const file = openSync(path, O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_RDWR, mode)
  try {
    if (!isOwn(fstatSync(file))) throw notOwn(path)
    const bytes = Buffer.from(text)
    for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written)
  } finally {
    closeSync(file)
  }
}

function isOwn(found: Pick<Stats, 'isFile' | 'nlink'>): boolean {
  return found.isFile() && found.nlink <= 1
}

function notOwn(path: string): Error {
  return new Error(
    `${basename(path)} in ${dirname(path)} is not a file with one name, and writing to it could change a file elsewhere`,
  )
}
