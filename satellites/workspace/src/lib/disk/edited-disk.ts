import {
  absolutePath,
  directoryOf,
  type Entry,
  EPOCH,
  hasLongName,
  isPath,
  isWithin,
  type ReadOnlyDisk,
} from './disk.ts'
import { changeOf, type DiskChanges } from './disk-changes.ts'
import { type Content, contentOf, entryFor, sizeOf } from './file-content.ts'

export interface DiskAccess {
  /** Paths that do not exist for it, and what is in them. */
  readonly hidden: readonly string[]
  /** Paths that it cannot change, and what is in them. */
  readonly readOnly: readonly string[]
  /** Bytes by which it may make all files together larger. */
  readonly room: number
}

export const FULL_ACCESS: DiskAccess = { hidden: [], readOnly: [], room: Number.MAX_SAFE_INTEGER }

export type Node =
  | { readonly kind: 'file'; readonly content: Content; readonly mode: number; readonly modified: number }
  | { readonly kind: 'directory'; readonly mode: number; readonly modified: number }
  | { readonly kind: 'link'; readonly target: string; readonly mode: number; readonly modified: number }

interface Edits {
  /** `null` for what was removed. */
  readonly changed: Map<string, Node | null>
  readonly read: Map<string, Node>
  /** The names in each directory, once one was listed. */
  names: Map<string, Set<string>> | null
  grown: number
}

/** Links that one path may lead over. */
const MOST_LINKS = 40

const DIRECTORY: Node = { kind: 'directory', mode: 0o755, modified: EPOCH }

export class DiskError extends Error {
  readonly code: keyof typeof WORDS
  readonly path: string

  constructor(code: keyof typeof WORDS, operation: string, path: string) {
    super(`${code}: ${WORDS[code]}, ${operation} '${path}'`)
    this.code = code
    this.path = path
  }

  get said(): string {
    const words = WORDS[this.code]
    return `${this.path}: ${words.charAt(0).toUpperCase()}${words.slice(1)}`
  }
}

const WORDS = {
  ENOENT: 'no such file or directory',
  EEXIST: 'file already exists',
  EISDIR: 'illegal operation on a directory',
  ENOTDIR: 'not a directory',
  ENOTEMPTY: 'directory not empty',
  EINVAL: 'invalid argument',
  ELOOP: 'too many symbolic links encountered',
  ENOSPC: 'no space left on device',
  EROFS: 'read-only file system',
  EACCES: 'permission denied',
  ENAMETOOLONG: 'file name too long',
}

/**
 * A disk as a program changes it: reads go to the disk that it began with, changes are kept beside it. Every path is
 * absolute. Throws {@link DiskError}.
 */
export class EditedDisk {
  readonly #base: ReadOnlyDisk
  readonly #access: DiskAccess
  readonly #now: () => number
  readonly #layers: readonly ReadOnlyDisk[]
  readonly #edits: Edits

  /**
   * `now` returns the time for what is changed, in milliseconds since 1970. What is on `layers` can be read, and not
   * changed; it is found also where the disk has something else.
   */
  constructor(
    base: ReadOnlyDisk,
    access: DiskAccess,
    now: () => number,
    layers: readonly ReadOnlyDisk[] = [],
    edits: Edits = { changed: new Map(), read: new Map(), names: null, grown: 0 },
  ) {
    this.#base = base
    this.#access = access
    this.#now = now
    this.#layers = layers
    this.#edits = edits
  }

  withAccess(access: DiskAccess): EditedDisk {
    return new EditedDisk(this.#base, access, this.#now, this.#layers, this.#edits)
  }

  /** Returns what is at a path itself, which may be a link; `null` for nothing. */
  at(path: string): Node | null {
    if (path === '/') return DIRECTORY
    if (this.#access.hidden.some((hidden) => isWithin(path, hidden))) return null
    const changed = this.#edits.changed.get(path)
    if (changed !== undefined) return changed
    const known = this.#edits.read.get(path)
    if (known) return known
    const entry = this.#layered(path) ?? entryAt(this.#base, path)
    if (!entry) return null
    const node = nodeOf(entry)
    this.#edits.read.set(path, node)
    return node
  }

  /** Returns the path that a path means once links are followed: all on the way, and that at its end if `last`. */
  resolve(path: string, operation: string, last = true): string {
    let links = 0
    const parts = path.split('/').filter(Boolean)
    let resolved = ''
    while (parts.length > 0) {
      const next = `${resolved}/${parts.shift()}`
      const node = this.at(next)
      if (node?.kind === 'link' && (last || parts.length > 0)) {
        if (++links > MOST_LINKS) throw new DiskError('ELOOP', operation, path)
        const target = absolutePath(resolved || '/', node.target)
        parts.unshift(...target.split('/').filter(Boolean))
        resolved = ''
        continue
      }
      if (node && node.kind === 'file' && parts.length > 0) throw new DiskError('ENOTDIR', operation, path)
      resolved = next
    }
    return resolved || '/'
  }

  find(path: string, operation: string): Node {
    return this.#locate(path, operation)[1]
  }

  read(path: string): Content {
    const node = this.find(path, 'open')
    if (node.kind !== 'file') throw new DiskError('EISDIR', 'read', path)
    return node.content
  }

  write(path: string, content: Content, mode?: number): void {
    const resolved = this.resolve(path, 'open')
    const before = this.at(resolved)
    if (before?.kind === 'directory') throw new DiskError('EISDIR', 'open', path)
    this.#assertParent(resolved, 'open', path)
    const file = before?.kind === 'file' ? before : null
    this.#assertRoom(sizeOf(content) - (file ? sizeOf(file.content) : 0), path)
    this.#put(resolved, { kind: 'file', content, mode: mode ?? file?.mode ?? 0o644, modified: this.#now() }, 'open')
  }

  /** Returns whether a file can be written at a path, as far as that is known before its content. */
  canWrite(path: string): boolean {
    try {
      const resolved = this.resolve(path, 'open')
      this.#assertParent(resolved, 'open', path)
      this.#assertWritable(resolved, 'open')
      return isPath(resolved) && !hasLongName(resolved)
    } catch {
      return false
    }
  }

  list(path: string): string[] {
    const [resolved, node] = this.#locate(path, 'scandir')
    if (node.kind !== 'directory') throw new DiskError('ENOTDIR', 'scandir', path)
    return this.#namesIn(resolved)
  }

  makeDirectory(path: string, recursive: boolean): void {
    const resolved = this.resolve(path, 'mkdir')
    const before = this.at(resolved)
    if (before) {
      if (recursive && before.kind === 'directory') return
      throw new DiskError('EEXIST', 'mkdir', path)
    }
    const parent = directoryOf(resolved)
    if (recursive && !this.at(parent)) this.makeDirectory(parent, true)
    this.#assertParent(resolved, 'mkdir', path)
    this.#put(resolved, { ...DIRECTORY, modified: this.#now() }, 'mkdir')
  }

  remove(path: string, recursive: boolean): void {
    const [resolved, node] = this.#locate(path, 'rm', false)
    if (resolved === '/') throw new DiskError('EACCES', 'rm', path)
    const gone = [...(node.kind === 'directory' ? this.#below(resolved) : []), resolved]
    if (gone.length > 1 && !recursive) throw new DiskError('ENOTEMPTY', 'rm', path)
    for (const each of gone) this.#assertWritable(each, 'rm')
    for (const each of gone) this.#put(each, null, 'rm')
  }

  copy(from: string, to: string, recursive: boolean): void {
    const [source, node] = this.#locate(from, 'cp')
    const target = this.resolve(to, 'cp')
    if (node.kind === 'file') {
      this.write(target, node.content, node.mode)
      return
    }
    if (!recursive) throw new DiskError('EISDIR', 'cp', from)
    if (isWithin(target, source)) throw new DiskError('EINVAL', 'cp', to)
    const inside = this.#below(source)
    if (!this.at(target)) this.makeDirectory(target, false)
    for (const each of inside) this.#copyNode(each, target + each.slice(source === '/' ? 0 : source.length))
  }

  move(from: string, to: string): void {
    const [source, node] = this.#locate(from, 'rename', false)
    if (source === '/') throw new DiskError('EACCES', 'rename', from)
    const target = this.resolve(to, 'rename', false)
    if (source === target) return
    if (node.kind === 'directory' && isWithin(target, source)) throw new DiskError('EINVAL', 'rename', to)
    const before = this.at(target)
    if (before?.kind === 'directory') {
      if (node.kind !== 'directory') throw new DiskError('EISDIR', 'rename', to)
      if (this.#below(target).length > 0) throw new DiskError('ENOTEMPTY', 'rename', to)
    } else if (before && node.kind === 'directory') throw new DiskError('ENOTDIR', 'rename', to)
    this.#assertParent(target, 'rename', to)
    const moved = [source, ...(node.kind === 'directory' ? this.#below(source) : [])]
    const nodes = moved.map((each) => [target + each.slice(source.length), this.at(each) as Node] as const)
    for (const each of [...moved, ...nodes.map(([at]) => at)]) this.#assertWritable(each, 'rename')
    for (const each of moved.reverse()) this.#put(each, null, 'rename')
    for (const [each, what] of nodes) this.#put(each, what, 'rename')
  }

  changeMode(path: string, mode: number): void {
    const [resolved, node] = this.#locate(path, 'chmod')
    this.#put(resolved, { ...node, mode: mode & 0o7777 }, 'chmod')
  }

  changeTime(path: string, modified: number): void {
    const [resolved, node] = this.#locate(path, 'utimes')
    this.#put(resolved, { ...node, modified: Math.round(modified) }, 'utimes')
  }

  link(target: string, path: string): void {
    const resolved = this.resolve(path, 'symlink', false)
    if (this.at(resolved)) throw new DiskError('EEXIST', 'symlink', path)
    this.#assertParent(resolved, 'symlink', path)
    this.#put(resolved, { kind: 'link', target, mode: 0o777, modified: this.#now() }, 'symlink')
  }

  paths(): string[] {
    return this.#below('/')
  }

  /** Bytes by which all files together are larger than before. */
  get grown(): number {
    return this.#edits.grown
  }

  changes(): DiskChanges {
    const paths = [...this.#edits.changed.keys()].sort()
    return paths.flatMap((path) => {
      const before = entryAt(this.#base, path)
      const node = this.#edits.changed.get(path) ?? null
      const change = changeOf(path, before, node && entryOf(node))
      return change ? [change] : []
    })
  }

  /** Returns where a path leads, links followed as in {@link EditedDisk.resolve}, and what is there. */
  #locate(path: string, operation: string, last = true): readonly [resolved: string, node: Node] {
    const resolved = this.resolve(path, operation, last)
    const node = this.at(resolved)
    if (!node) throw new DiskError('ENOENT', operation, path)
    return [resolved, node]
  }

  #layered(path: string): Readonly<Entry> | undefined {
    for (const layer of this.#layers) {
      const entry = entryAt(layer, path)
      if (entry) return entry
    }
    return undefined
  }

  #copyNode(from: string, to: string): void {
    const node = this.at(from) as Node
    if (node.kind === 'directory') {
      if (!this.at(to)) this.#put(to, { ...node, modified: this.#now() }, 'cp')
    } else {
      if (node.kind === 'file') this.#assertRoom(sizeOf(node.content), to)
      this.#put(to, node.kind === 'file' ? { ...node, modified: this.#now() } : node, 'cp')
    }
  }

  #assertParent(resolved: string, operation: string, path: string): void {
    const parent = this.at(directoryOf(resolved))
    if (!parent) throw new DiskError('ENOENT', operation, path)
    if (parent.kind !== 'directory') throw new DiskError('ENOTDIR', operation, path)
  }

  #assertRoom(more: number, path: string): void {
    if (more <= 0) return
    if (this.#edits.grown + more > this.#access.room) throw new DiskError('ENOSPC', 'write', path)
  }

  #assertWritable(path: string, operation: string): void {
    const { hidden, readOnly } = this.#access
    if (hidden.some((each) => isWithin(path, each))) throw new DiskError('EACCES', operation, path)
    if (readOnly.some((each) => isWithin(path, each))) throw new DiskError('EROFS', operation, path)
    if (this.#layered(path)) throw new DiskError('EROFS', operation, path)
  }

  #put(path: string, node: Node | null, operation: string): void {
    this.#assertWritable(path, operation)
    if (node && !isPath(path)) throw new DiskError('EINVAL', operation, path.replaceAll('\0', '?').toWellFormed())
    if (node && hasLongName(path)) throw new DiskError('ENAMETOOLONG', operation, path)
    const before = this.at(path)
    this.#edits.grown +=
      (node?.kind === 'file' ? sizeOf(node.content) : 0) - (before?.kind === 'file' ? sizeOf(before.content) : 0)
    this.#edits.changed.set(path, node)
    if (!this.#edits.names || (before === null) === (node === null)) return
    const names = this.#edits.names.get(directoryOf(path)) ?? new Set()
    this.#edits.names.set(directoryOf(path), names)
    const name = path.slice(path.lastIndexOf('/') + 1)
    if (node) names.add(name)
    else names.delete(name)
  }

  /** The paths in a directory at any depth, each after the one that it is in. */
  #below(directory: string): string[] {
    return this.#namesIn(directory).flatMap((name) => {
      const path = pathOf(directory, name)
      return [path, ...this.#below(path)]
    })
  }

  #namesIn(directory: string): string[] {
    const { hidden } = this.#access
    const names = [...(this.#listed().get(directory) ?? [])].sort()
    return hidden.length === 0
      ? names
      : names.filter((name) => !hidden.some((each) => isWithin(pathOf(directory, name), each)))
  }

  #listed(): Map<string, Set<string>> {
    if (this.#edits.names) return this.#edits.names
    const names = new Map<string, Set<string>>()
    const add = (path: string) => {
      const slash = path.lastIndexOf('/')
      const directory = path.slice(0, slash) || '/'
      const known = names.get(directory)
      if (known) known.add(path.slice(slash + 1))
      else names.set(directory, new Set([path.slice(slash + 1)]))
    }
    for (const path of Object.keys(this.#base)) if (this.#edits.changed.get(path) !== null) add(path)
    for (const layer of this.#layers) for (const path of Object.keys(layer)) add(path)
    for (const [path, node] of this.#edits.changed) if (node) add(path)
    this.#edits.names = names
    return names
  }
}

function pathOf(directory: string, name: string): string {
  return directory === '/' ? `/${name}` : `${directory}/${name}`
}

export function entryAt(disk: ReadOnlyDisk, path: string): Readonly<Entry> | undefined {
  return Object.hasOwn(disk, path) ? disk[path] : undefined
}

function nodeOf(entry: Readonly<Entry>): Node {
  if (entry.kind === 'link') return { kind: 'link', target: entry.target, mode: 0o777, modified: EPOCH }
  const { mode, modified = EPOCH } = entry
  if (entry.kind === 'directory') return { kind: 'directory', mode: mode ?? 0o755, modified }
  return { kind: 'file', content: contentOf(entry), mode: mode ?? 0o644, modified }
}

function entryOf(node: Node): Entry {
  if (node.kind === 'link') return { kind: 'link', target: node.target }
  const { mode, modified } = node
  const times = modified === EPOCH ? {} : { modified }
  if (node.kind === 'directory') return { kind: 'directory', ...(mode !== 0o755 && { mode }), ...times }
  return { ...entryFor(node.content), ...(mode !== 0o644 && { mode }), ...times }
}
