import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  futimesSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmdirSync,
  rmSync,
  type Stats,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setImmediate as breathe, setTimeout as pause } from 'node:timers/promises'
import { directoryOf, type Entry, EPOCH, isWithin, type ReadOnlyDisk } from '../disk/disk.ts'
import { changeOf, type DiskChanges } from '../disk/disk-changes.ts'
import { entryAt } from '../disk/edited-disk.ts'
import { contentOf, entryFor, sizeOf, toBytes } from '../disk/file-content.ts'

/** What a command may see and change of a disk: fields of the command. */
export interface SeenFiles {
  readonly disk: ReadOnlyDisk
  readonly folders: readonly string[]
  readonly hidden: readonly string[]
  readonly readOnly: readonly string[]
}

export type Wanted = ReturnType<typeof wantedOf>

interface Known {
  readonly entry: Readonly<Entry>
  /** While it has this kind, mode, time of change and inode, of a directory the first two, it is the same. */
  readonly stats: Pick<Stats, 'mode' | 'ctimeMs' | 'ino' | 'mtimeMs'>
}

/** Files that one command may change. */
export const MOST_CHANGED = 20_000
/** Bytes of a path below the folder that the system still opens, and of a name in it. */
const LONGEST_PATH = 3_500
const LONGEST_NAME = 255
/** Milliseconds for which files are written before others have their turn. */
const TURN = 5
/** What an owner needs to list a directory, and to change what is in it. */
const OWNER = 0o700

export const KINDS: Readonly<Record<string, string>> = { p: 'a pipe', s: 'a socket', b: 'a device', c: 'a device' }

/**
 * A folder of this machine with the files of a disk, each at its path below it. It is brought up to date before a
 * command, and what the command has changed is read once all of its processes have ended. Only such a command may
 * write to it meanwhile. It may have made any link, so none is followed.
 */
export class WorkingCopy {
  /** The user who runs commands; `null` for the one of this process. */
  readonly #owner: number | null
  readonly #root: string
  /** All that is in the folder by its path on the disk, a directory before what is in it. */
  #known = new Map<string, Known>()
  /** The latest time of change of what is known. */
  #newest = 0
  #isFirst = true
  #wanted: Wanted = { entries: new Map(), kept: new Set() }
  /** The modes of directories that are open to their owner for now. */
  readonly #opened = new Map<string, number>()

  constructor(root: string, owner: number | null) {
    this.#root = root
    this.#owner = owner
    mkdirSync(root, { mode: 0o700 })
    if (owner !== null) lchownSync(root, owner, owner)
  }

  /** Returns where on this machine the file is that has this path on the disk. */
  at(path: string): string {
    return join(this.#root, path)
  }

  /** Whether a file or directory of the disk is there, which is no link. */
  hasFile(path: string): boolean {
    const kind = this.#known.get(path)?.entry.kind
    return kind !== undefined && kind !== 'link'
  }

  /**
   * Makes the folder have what a command may see of a disk, and nothing else. Files have the times of the disk if the
   * folder was empty. What is written later has the time of now: it is newer than what commands have made before.
   */
  async bringTo(seen: SeenFiles): Promise<void> {
    this.#isFirst = this.#known.size === 0
    this.#wanted = wantedOf(seen)
    for (const [path, { entry }] of [...this.#known].reverse()) {
      const next = this.#wanted.entries.get(path)
      if (next && (isSame(next, entry) || (next.kind === 'directory' && entry.kind === 'directory'))) continue
      this.#remove(path, entry.kind === 'directory')
      this.#known.delete(path)
    }
    const before = this.#known
    this.#known = new Map()
    let began = performance.now()
    for (const [path, entry] of this.#wanted.entries) {
      const known = before.get(path)
      this.#known.set(path, known && isSame(known.entry, entry) ? known : this.#put(path, entry, known !== undefined))
      if (performance.now() - began < TURN) continue
      await breathe()
      began = performance.now()
    }
    this.#close()
    // What is changed from now on gets a later time of change: clocks of file systems tick every few ms.
    for (;;) {
      chmodSync(this.#root, OWNER)
      if (lstatSync(this.#root).ctimeMs > this.#newest) return
      await pause(1)
    }
  }

  /**
   * Returns what has changed since the folder was brought to these files. Returns `null` if files are larger by more
   * than `room` bytes, or too many or too deep have changed; the folder can then only be removed.
   */
  async readChanges(seen: SeenFiles, room: number) {
    const notKept: string[] = []
    const listed = await this.#list(seen.folders, notKept)
    if (!listed) return null
    const changed = [...listed].filter(([path, stats]) => !isUnchanged(stats, this.#known.get(path)))
    const removed = [...this.#known].filter(([path]) => !listed.has(path))
    if (changed.length + removed.length > MOST_CHANGED) return null
    let grown = 0
    for (const [, { entry }] of removed) grown -= bytesOf(entry)
    for (const [path, stats] of changed) {
      if (stats.isFile()) grown += stats.size
      grown -= bytesOf(this.#known.get(path)?.entry)
    }
    if (grown > room) return null

    const made = new Map<string, Entry | null>(removed.map(([path]) => [path, null]))
    for (const [path] of removed) this.#known.delete(path)
    for (const [path, stats] of changed) {
      const known = this.#read(path, stats, entryAt(seen.disk, path), notKept)
      made.set(path, known?.entry ?? null)
      if (known) this.#known.set(path, known)
      else this.#known.delete(path)
    }
    this.#known = sorted(this.#known)
    this.#close()
    return { changes: changesOf(seen, this.#wanted, made), grown, notKept }
  }

  /** Returns all that is in the folders by its path, a directory before what is in it; `null` for too much. */
  async #list(folders: readonly string[], notKept: string[]): Promise<Map<string, Stats> | null> {
    const listed = new Map<string, Stats>()
    const paths = [...folders]
    let began = performance.now()
    for (const path of paths) {
      if (paths.length > this.#known.size + MOST_CHANGED || Buffer.byteLength(path) > LONGEST_PATH) return null
      const stats = lstatSync(this.#root + path)
      listed.set(path, stats)
      if (!stats.isDirectory()) continue
      this.#open(path, stats.mode & 0o7777)
      for (const name of this.#namesIn(path, notKept)) paths.push(`${path}/${name}`)
      if (performance.now() - began < TURN) continue
      await breathe()
      began = performance.now()
    }
    return listed
  }

  /** Returns the names in a directory, and removes what has one that is no UTF-8. */
  #namesIn(path: string, notKept: string[]): string[] {
    const names = readdirSync(this.#root + path)
    if (!names.some((name) => name.includes('\ufffd'))) return names
    return readdirSync(this.#root + path, 'buffer').flatMap((raw) => {
      const name = raw.toString()
      if (Buffer.from(name).equals(raw)) return [name]
      rmSync(Buffer.concat([Buffer.from(`${this.#root}${path}/`), raw]), { recursive: true, force: true })
      notKept.push(`${path}/${name} had a name that is no UTF-8, which is not kept.`)
      return []
    })
  }

  /** Reads what a command has made; `null`, and it is gone, if a disk cannot have it. */
  #read(path: string, stats: Stats, before: Readonly<Entry> | undefined, notKept: string[]): Known | null {
    const file = this.at(path)
    const mode = stats.mode & 0o7777
    if (stats.isDirectory()) return { entry: directoryFrom(mode, before), stats }
    if (stats.isSymbolicLink()) {
      const target = readlinkSync(file, 'buffer')
      if (Buffer.from(target.toString()).equals(target))
        return { entry: { kind: 'link', target: target.toString() }, stats: this.#statsOf(path) }
    } else if (stats.isFile()) {
      if (!isRoot() && (mode & 0o400) === 0) chmodSync(file, 0o600)
      const handle = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW)
      const content = readFileSync(handle)
      closeSync(handle)
      const since = this.#known.get(path)?.stats.mtimeMs
      const isOlder = stats.mtimeMs === since && (before?.kind === 'text' || before?.kind === 'bytes')
      const modified = isOlder ? (before.modified ?? EPOCH) : Math.round(stats.mtimeMs)
      const times = modified === EPOCH ? {} : { modified }
      const entry = { ...entryFor(content), ...(mode !== 0o644 && { mode }), ...times }
      // Files that are one could change each other later.
      if (lstatSync(file).nlink > 1) return this.#put(path, entry, true)
      if (!isRoot() && (mode & 0o400) === 0) chmodSync(file, mode)
      return { entry, stats: this.#statsOf(path) }
    }
    const kind = stats.isFIFO() ? KINDS.p : stats.isSocket() ? KINDS.s : KINDS.b
    notKept.push(
      `${path} was ${stats.isSymbolicLink() ? 'a link to a name that is no UTF-8' : kind}, which is not kept.`,
    )
    unlinkSync(file)
    return null
  }

  #put(path: string, entry: Readonly<Entry>, isThere: boolean): Known {
    const file = this.at(path)
    this.#open(directoryOf(path))
    if (entry.kind === 'directory') {
      const mode = entry.mode ?? 0o755
      if (!isThere) {
        mkdirSync(file, { recursive: true })
        if (this.#owner !== null) lchownSync(file, this.#owner, this.#owner)
      }
      this.#opened.set(path, mode)
      return { entry, stats: { mode: constants.S_IFDIR | mode, ctimeMs: 0, ino: 0, mtimeMs: 0 } }
    }
    if (isThere) unlinkSync(file)
    if (entry.kind === 'link') {
      symlinkSync(entry.target, file)
      if (this.#owner !== null) lchownSync(file, this.#owner, this.#owner)
    } else {
      const handle = openSync(file, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW)
      const { mode = 0o644, modified = EPOCH } = entry
      writeFileSync(handle, toBytes(contentOf(entry)))
      if (this.#owner !== null) fchownSync(handle, this.#owner, this.#owner)
      fchmodSync(handle, mode)
      if (this.#isFirst) futimesSync(handle, modified / 1_000, modified / 1_000)
      closeSync(handle)
    }
    return { entry, stats: this.#statsOf(path) }
  }

  #remove(path: string, isDirectory: boolean): void {
    this.#open(directoryOf(path))
    this.#opened.delete(path)
    if (isDirectory) rmdirSync(this.at(path))
    else unlinkSync(this.at(path))
  }

  /** Lets this process list and change a directory until {@link #close}. */
  #open(path: string, mode = modeOf(this.#known.get(path))): void {
    if (mode === null || (mode & OWNER) === OWNER || isRoot() || this.#opened.has(path)) return
    chmodSync(this.at(path), mode | OWNER)
    this.#opened.set(path, mode)
  }

  #close(): void {
    for (const [path, mode] of [...this.#opened].sort().reverse()) chmodSync(this.at(path), mode)
    this.#opened.clear()
  }

  #statsOf(path: string): Stats {
    const stats = lstatSync(this.#root + path)
    if (stats.ctimeMs > this.#newest) this.#newest = stats.ctimeMs
    return stats
  }
}

function isRoot(): boolean {
  return process.getuid?.() === 0
}

/** Returns whether what is there is what was known. */
function isUnchanged(stats: Stats, known: Known | undefined): boolean {
  if (stats.mode !== known?.stats.mode) return false
  return stats.isDirectory() || (stats.ctimeMs === known.stats.ctimeMs && stats.ino === known.stats.ino)
}

/** Returns a directory of a mode; without a time of change, which it gets with all that is in it. */
export function directoryFrom(mode: number, before: Readonly<Entry> | undefined): Entry {
  const modified = before?.kind === 'directory' ? before.modified : undefined
  return { kind: 'directory', ...(mode !== 0o755 && { mode }), ...(modified !== undefined && { modified }) }
}

function modeOf(known: Known | undefined): number | null {
  return known?.entry.kind === 'directory' ? known.stats.mode & 0o7777 : null
}

/**
 * Returns what a command sees, a directory before what is in it; and the directories that it cannot remove, because
 * something in them is not seen or cannot be changed.
 */
export function wantedOf({ disk, folders, hidden, readOnly }: SeenFiles) {
  const entries = new Map<string, Readonly<Entry>>()
  const kept = new Set<string>(folders)
  const keepAbove = (path: string) => {
    for (let above = directoryOf(path); above !== '/' && !kept.has(above); above = directoryOf(above)) kept.add(above)
  }
  /** Adds a directory and those that it is in. Returns whether it is one. */
  const hasDirectory = (path: string): boolean => {
    const there = entries.get(path)
    if (there) return there.kind === 'directory'
    if (!folders.includes(path) && !hasDirectory(directoryOf(path))) return false
    entries.set(path, { kind: 'directory' })
    return true
  }
  // The keys of a part of a large state are all its own, and asking for each would read its value.
  for (const path of (Reflect.ownKeys(disk) as string[]).sort()) {
    const folder = folders.find((each) => isWithin(path, each))
    if (folder === undefined) continue
    const entry = disk[path] as Readonly<Entry>
    const isSeen =
      isOpenable(path) &&
      !hidden.some((each) => isWithin(path, each)) &&
      (path === folder ? entry.kind === 'directory' : hasDirectory(directoryOf(path)))
    if (isSeen) entries.set(path, entry)
    if (!isSeen || readOnly.some((each) => isWithin(path, each))) keepAbove(path)
  }
  for (const folder of folders) hasDirectory(folder)
  return { entries, kept }
}

function isOpenable(path: string): boolean {
  return (
    path.isWellFormed() &&
    !path.includes('\0') &&
    Buffer.byteLength(path) <= LONGEST_PATH &&
    (path.length * 3 <= LONGEST_NAME || path.split('/').every((name) => Buffer.byteLength(name) <= LONGEST_NAME))
  )
}

/** Returns whether two are the same but for their times. */
export function isSame(a: Readonly<Entry>, b: Readonly<Entry>): boolean {
  if (a === b) return true
  if (a.kind === 'directory') return b.kind === 'directory' && (a.mode ?? 0o755) === (b.mode ?? 0o755)
  if (a.kind === 'link') return b.kind === 'link' && a.target === b.target
  if (b.kind === 'link' || b.kind === 'directory') return false
  if ((a.mode ?? 0o644) !== (b.mode ?? 0o644)) return false
  if (a.kind === 'text') return b.kind === 'text' && a.text === b.text
  const { chunks } = a
  return b.kind === 'bytes' && a.size === b.size && b.chunks.every((chunk, i) => chunk === chunks[i])
}

function sorted<Value>(map: ReadonlyMap<string, Value>): Map<string, Value> {
  return new Map([...map].sort(([a], [b]) => (a < b ? -1 : 1)))
}

export function bytesOf(entry: Readonly<Entry> | undefined): number {
  return entry?.kind === 'text' ? sizeOf(entry.text) : entry?.kind === 'bytes' ? entry.size : 0
}

/** Returns what a command has changed that it may, from what it has made of each path; `null` is for nothing. */
export function changesOf(seen: SeenFiles, { kept }: Wanted, made: ReadonlyMap<string, Entry | null>): DiskChanges {
  return [...sorted(made)].flatMap(([path, entry]) => {
    if ([...seen.readOnly, ...seen.hidden].some((each) => isWithin(path, each))) return []
    // What is in it and was not seen stays.
    if (kept.has(path) && entry?.kind !== 'directory') return []
    const change = changeOf(path, entryAt(seen.disk, path), entry)
    return change ? [change] : []
  })
}
