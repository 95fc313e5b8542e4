import { absolutePath, type ReadOnlyDisk } from './disk.ts'
import { EditedDisk, FULL_ACCESS } from './edited-disk.ts'
import { sizeOf, toBytes, toText } from './file-content.ts'

function reading(disk: ReadOnlyDisk): EditedDisk {
  return new EditedDisk(disk, FULL_ACCESS, () => 0)
}

/**
 * Returns the text of a file of a disk, links followed; `null` if there is no such file, or if its bytes are not the
 * UTF-8 of a text.
 */
export function readFile(disk: ReadOnlyDisk, path: string): string | null {
  const content = contentAt(disk, path)
  return content === null ? null : toText(content)
}

/** Returns the bytes of a file of a disk, links followed; `null` if there is no such file. */
export function readBytes(disk: ReadOnlyDisk, path: string): Uint8Array | null {
  const content = contentAt(disk, path)
  return content === null ? null : toBytes(content)
}

function contentAt(disk: ReadOnlyDisk, path: string) {
  try {
    return reading(disk).read(absolutePath('/', path))
  } catch {
    return null
  }
}

export interface Listed {
  readonly path: string
  readonly kind: 'file' | 'directory' | 'link'
  /** Bytes of a file; 0 of anything else. */
  readonly bytes: number
}

/** Returns what is in a directory of a disk, at any depth, sorted by path; nothing for a path that is no directory. */
export function listFiles(disk: ReadOnlyDisk, directory = '/'): Listed[] {
  return listed(reading(disk), absolutePath('/', directory))
}

export function listed(disk: EditedDisk, directory: string): Listed[] {
  const within = directory === '/' ? '/' : `${directory}/`
  return disk
    .paths()
    .filter((path) => path.startsWith(within))
    .map((path) => {
      const node = disk.at(path)
      const kind = node?.kind ?? 'file'
      return { path, kind, bytes: node?.kind === 'file' ? sizeOf(node.content) : 0 }
    })
}
