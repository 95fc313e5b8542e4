import { constants } from 'node:fs'
import { lstat, mkdir, open, readdir, writeFile } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import { z } from 'zod'

/** What no name of a file has: on Windows, also what leads to another drive or to another stream of a file. */
const NO_NAME = sep === '\\' ? /[\0\\:]/ : /\0/

/** Whether a path leads to a place in a folder, by names alone. That of a folder has a slash at its end. */
function isInFolder(path: string): boolean {
  const names = path.replace(/\/$/, '').split('/')
  return !NO_NAME.test(path) && names.every((name) => name !== '' && name !== '.' && name !== '..')
}

function byPath<Content extends z.ZodType>(content: Content) {
  return z.record(z.string().refine(isInFolder), content, {
    error: ({ code }) => (code === 'invalid_key' ? 'It leads out of the folder, or is no path in it' : undefined),
  })
}

/** The content of a folder: files in base64 by their paths, and folders, with a slash at the end and no content. */
export const savedFolderSchema = byPath(z.base64())
export type SavedFolder = Readonly<z.infer<typeof savedFolderSchema>>

/** What has changed in a folder: the new content by path, and `null` for what is gone. */
export const changesSchema = byPath(z.base64().nullable())
export type Changes = z.infer<typeof changesSchema>

/** Nanoseconds until a change shows in a file's times on any system: a newer one may have changed once more. */
const SETTLED = 2_000_000_000n

export type WatchedFolder = ReturnType<typeof createWatchedFolder>

/**
 * The folder of a server. Only files whose size or times have changed are read again.
 *
 * @param clock - the path of a file beside the folder, by which the time of its file system is found.
 * @param settled - see {@link SETTLED}.
 * @param read - reads a file as base64.
 */
export function createWatchedFolder(path: string, clock: string, settled = SETTLED, read = readUnlinked) {
  /** What the system said of the files that are saved as they are, by path. */
  let seen = new Map<string, string>()
  const folder = path
  return {
    /** Links are not followed, and not saved. */
    async changesSince(saved: SavedFolder): Promise<Changes> {
      await writeFile(clock, '')
      const { mtimeNs: now } = await lstat(clock, { bigint: true })
      const known = new Map<string, string>()
      const found = new Set<string>()
      const changes: Changes = {}
      const visit = async (within: string): Promise<void> => {
        for (const entry of await readdir(join(folder, within), { withFileTypes: true })) {
          const path = `${within}${entry.name}${entry.isDirectory() ? '/' : ''}`
          if (entry.isDirectory()) {
            found.add(path)
            if (saved[path] === undefined) changes[path] = ''
            await visit(path)
          } else if (entry.isFile()) {
            const { ino, size, mtimeNs, ctimeNs } = await lstat(join(folder, path), { bigint: true })
            const said = [ino, size, mtimeNs, ctimeNs].join()
            found.add(path)
            if (now - ctimeNs >= settled) known.set(path, said)
            if (saved[path] !== undefined && seen.get(path) === said) continue
            const content = await read(join(folder, path))
            if (saved[path] !== content) changes[path] = content
          }
        }
      }
      await visit('')
      seen = known
      for (const path of Object.keys(saved)) if (!found.has(path)) changes[path] = null
      return changes
    },
  }
}

/** Rejects for a link, and does not wait for the other end of a pipe. */
async function readUnlinked(path: string): Promise<string> {
  await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  return file.readFile('base64')
}

/** Writes files into a new folder. Rejects for a path that leads elsewhere: nothing is followed or replaced. */
export async function writeFolder(folder: string, saved: SavedFolder): Promise<void> {
  await mkdir(folder)
  for (const [path, content] of Object.entries(saved)) {
    if (!isInFolder(path)) throw new Error('A path of its saved files leads out of its folder.')
    const target = join(folder, path)
    await mkdir(path.endsWith('/') ? target : dirname(target), { recursive: true })
    if (!path.endsWith('/')) await writeFile(target, content, { encoding: 'base64', flag: 'wx' })
  }
}
