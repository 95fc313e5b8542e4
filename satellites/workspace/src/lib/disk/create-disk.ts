import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { absolutePath, type Disk, directoryOf, type Entry, hasLongName, isPath } from './disk.ts'
import { type Content, entryFor } from './file-content.ts'

export type NewFile =
  | Content
  | { readonly content: Content; readonly mode?: number }
  | { readonly link: string }
  | { readonly directory: true }
  | { readonly folder: string | URL }

/**
 * Creates a disk from its files by absolute path: texts and bytes, with permission bits where they matter, symbolic
 * links, and empty directories. A `folder` of this machine, such as a checkout with its `.git`, is read as it is, with
 * its links and modes; write permission is kept for the owner alone, since that of others is a matter of the machine.
 * Directories on the way, `/root` and `/tmp` are created too. The disk is frozen: sessions that begin with the same one
 * keep it once.
 *
 * Throws a `TypeError` for a path that is not absolute or that no disk has, for a path that is in a file, and for what
 * is no file in a folder, such as a socket; and what reading the folder throws.
 */
export function createDisk(files: Readonly<Record<string, NewFile>>): Disk {
  const disk: Disk = {
    '/root': Object.freeze({ kind: 'directory' }),
    '/tmp': Object.freeze({ kind: 'directory', mode: 0o1777 }),
  }
  for (const [given, file] of Object.entries(files)) {
    if (!given.startsWith('/'))
      throw new TypeError(`The path ${given} of a disk is not absolute: begin it with a slash.`)
    if (!isPath(given) || hasLongName(given))
      throw new TypeError(
        `No disk has the path ${JSON.stringify(given)}: leave out NUL, and names of more than 255 bytes.`,
      )
    const path = absolutePath('/', given)
    if (typeof file === 'string' || !('folder' in file)) disk[path] = entryOf(file)
    else addFolder(disk, path, typeof file.folder === 'string' ? file.folder : fileURLToPath(file.folder))
  }
  for (const path of Object.keys(disk)) addDirectories(disk, path)
  return Object.freeze(disk)
}

function entryOf(file: Exclude<NewFile, { readonly folder: unknown }>): Entry {
  if (typeof file === 'string' || file instanceof Uint8Array) return frozen(entryFor(file))
  if ('link' in file) return frozen({ kind: 'link', target: file.link })
  if ('directory' in file) return frozen({ kind: 'directory' })
  return frozen({ ...entryFor(file.content), ...(file.mode !== undefined && { mode: file.mode }) })
}

function addFolder(disk: Disk, at: string, folder: string): void {
  if (at !== '/') disk[at] = entryOf({ directory: true })
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const [path, place] = [join(folder, entry.name), absolutePath(at, entry.name)]
    if (entry.isDirectory()) addFolder(disk, place, path)
    else if (entry.isSymbolicLink()) disk[place] = entryOf({ link: readlinkSync(path) })
    else if (entry.isFile()) disk[place] = entryOf({ content: readFileSync(path), mode: statSync(path).mode & 0o755 })
    else throw new TypeError(`${path} is no file, directory or link, so no disk can have it: remove it.`)
  }
}

function frozen(entry: Entry): Entry {
  if (entry.kind === 'bytes') Object.freeze(entry.chunks)
  return Object.freeze(entry)
}

function addDirectories(disk: Disk, path: string): void {
  for (let directory = directoryOf(path); directory !== '/'; directory = directoryOf(directory)) {
    const found = disk[directory]
    if (found && found.kind !== 'directory')
      throw new TypeError(`The disk has ${path}, and ${directory} is no directory.`)
    disk[directory] ??= Object.freeze({ kind: 'directory' })
  }
}
