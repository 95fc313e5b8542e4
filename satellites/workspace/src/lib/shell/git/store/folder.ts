import { absolutePath, directoryOf } from '../../../disk/disk.ts'
import { DiskError, type EditedDisk, type Node } from '../../../disk/edited-disk.ts'
import { sizeOf, toBytes } from '../../../disk/file-content.ts'
import { fromByteString, toByteString } from '../bytes.ts'
import { fatal } from '../git-error.ts'

/** A directory of the disk with paths and contents as strings of bytes. Paths are relative to it. */
export class Folder {
  readonly path: string
  readonly disk: EditedDisk

  constructor(disk: EditedDisk, path: string) {
    this.disk = disk
    this.path = path
  }

  /** Returns what is at a path itself, which may be a link. */
  at(path: string): Node | null {
    return this.#find(path, (full) => this.disk.at(this.disk.resolve(full, 'lstat', false)))
  }

  /** Returns whether a path is a file, links followed. */
  isFile(path: string): boolean {
    return this.#find(path, (full) => this.disk.find(full, 'stat').kind === 'file') ?? false
  }

  /** Returns the bytes of a file; `null` if there is none. */
  read(path: string): string | null {
    return this.#find(path, (full) => Buffer.from(toBytes(this.disk.read(full))).toString('latin1'))
  }

  /** Returns the size of a file in bytes, or that of the target of a link. */
  static sizeOf(node: Node): number {
    return node.kind === 'file' ? sizeOf(node.content) : node.kind === 'link' ? Buffer.byteLength(node.target) : 0
  }

  /** Returns the names in a directory, sorted; none if it is none. */
  list(path: string): string[] {
    return this.#find(path, (full) => this.disk.list(full).map(toByteString).sort()) ?? []
  }

  /** Writes a file, with the directories on the way. */
  write(path: string, content: string, mode?: number): void {
    this.#change(path, (full) => {
      this.disk.makeDirectory(directoryOf(full), true)
      this.disk.write(full, Buffer.from(content, 'latin1'), mode)
    })
  }

  /** Makes a symbolic link, with the directories on the way. */
  link(path: string, target: string): void {
    this.#change(path, (full) => {
      this.disk.makeDirectory(directoryOf(full), true)
      this.disk.link(fromByteString(target), full)
    })
  }

  makeDirectory(path: string): void {
    this.#change(path, (full) => this.disk.makeDirectory(full, true))
  }

  /** Removes a file, or a directory with all that is in it; nothing if it is not there. */
  remove(path: string): void {
    if (this.at(path)) this.#change(path, (full) => this.disk.remove(full, true))
  }

  move(from: string, to: string): void {
    this.#change(to, (full) => {
      this.disk.makeDirectory(directoryOf(full), true)
      this.disk.move(this.#full(from), full)
    })
  }

  /** Removes the directories above a path that have become empty. */
  removeEmptyAbove(path: string): void {
    for (let above = parentOf(path); above !== '' && this.list(above).length === 0; above = parentOf(above)) {
      if (this.at(above)?.kind !== 'directory') return
      this.remove(above)
    }
  }

  #full(path: string): string {
    return absolutePath(this.path, fromByteString(path))
  }

  #find<T>(path: string, find: (full: string) => T): T | null {
    try {
      return find(this.#full(path))
    } catch {
      return null
    }
  }

  #change(path: string, change: (full: string) => void): void {
    try {
      change(this.#full(path))
    } catch (error) {
      if (!(error instanceof DiskError)) throw error
      throw fatal(`cannot write '${fromByteString(path)}': ${error.said.slice(error.path.length + 2)}`)
    }
  }
}

/** Returns the directory of a relative path: the empty text at the top. */
export function parentOf(path: string): string {
  const slash = path.lastIndexOf('/')
  return slash < 0 ? '' : path.slice(0, slash)
}
