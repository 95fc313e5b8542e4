import { absolutePath, type Disk, directoryOf, type Entry } from './disk.ts'
import { type Content, entryFor } from './file-content.ts'

/** A file of a new disk. */
export type NewFile =
  | Content
  | { readonly content: Content; readonly mode?: number }
  | { readonly link: string }
  | { readonly directory: true }

/**
 * Creates a disk from its files by absolute path: texts and bytes, with permission bits where they matter, symbolic
 * links, and empty directories. Directories on the way, `/root` and `/tmp` are created too. The disk is frozen:
 * sessions that begin with the same one keep it once.
 *
 * Throws a `TypeError` for a path that is not absolute, and for a path that is in a file.
 */
export function createDisk(files: Readonly<Record<string, NewFile>>): Disk {
  const disk: Disk = {
    '/root': Object.freeze({ kind: 'directory' }),
    '/tmp': Object.freeze({ kind: 'directory', mode: 0o1777 }),
  }
  for (const [given, file] of Object.entries(files)) {
    if (!given.startsWith('/'))
      throw new TypeError(`The path ${given} of a disk is not absolute: begin it with a slash.`)
    disk[absolutePath('/', given)] = Object.freeze(entryOf(file))
  }
  for (const path of Object.keys(disk)) addDirectories(disk, path)
  return Object.freeze(disk)
}

function entryOf(file: NewFile): Entry {
  if (typeof file === 'string' || file instanceof Uint8Array) return frozen(entryFor(file))
  if ('link' in file) return { kind: 'link', target: file.link }
  if ('directory' in file) return { kind: 'directory' }
  return frozen({ ...entryFor(file.content), ...(file.mode !== undefined && { mode: file.mode }) })
}

function frozen(entry: Entry): Entry {
  if (entry.kind === 'bytes') Object.freeze(entry.chunks)
  return entry
}

function addDirectories(disk: Disk, path: string): void {
  for (let directory = directoryOf(path); directory !== '/'; directory = directoryOf(directory)) {
    const found = disk[directory]
    if (found && found.kind !== 'directory')
      throw new TypeError(`The disk has ${path}, and ${directory} is no directory.`)
    disk[directory] ??= Object.freeze({ kind: 'directory' })
  }
}
