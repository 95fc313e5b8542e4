import { createHash } from 'node:crypto'
import { compareBytes } from '../bytes.ts'
import { fatal } from '../git-error.ts'
import type { Folder } from './folder.ts'

/** A file of the index. */
export interface IndexEntry {
  readonly path: string
  readonly id: string
  /** The mode of a tree: 0o100644, 0o100755 or 0o120000. */
  readonly mode: number
  /** 0, or in a conflict 1 for the base, 2 for ours and 3 for theirs. */
  readonly stage: number
  readonly size: number
  /** Milliseconds since 1970. */
  readonly modified: number
}

const HEADER = 12
/** Bytes of an entry before its path. */
const FIXED = 62
const HAS_MORE_FLAGS = 0x4000

/** The index of a repository, which is what the next commit has. */
export class Index {
  readonly #folder: Folder
  #entries: IndexEntry[]
  #byPath: Map<string, IndexEntry> | null = null

  constructor(folder: Folder) {
    this.#folder = folder
    const content = folder.read('index')
    this.#entries = content === null ? [] : parse(Buffer.from(content, 'latin1'))
  }

  /** The entries, sorted by path and stage. */
  get entries(): readonly IndexEntry[] {
    return this.#entries
  }

  /** Returns the entry of a path without a conflict. */
  get(path: string): IndexEntry | null {
    this.#byPath ??= new Map(this.#entries.filter(({ stage }) => stage === 0).map((entry) => [entry.path, entry]))
    return this.#byPath.get(path) ?? null
  }

  /** Returns the entries of a path in conflict, by their stages. */
  conflicts(): Map<string, { readonly [stage: number]: IndexEntry }> {
    const found = new Map<string, { [stage: number]: IndexEntry }>()
    for (const entry of this.#entries)
      if (entry.stage > 0) found.set(entry.path, { ...found.get(entry.path), [entry.stage]: entry })
    return found
  }

  /** Writes other entries for some paths: nothing for those that have none among `entries`. */
  update(paths: Iterable<string>, entries: readonly IndexEntry[]): void {
    const gone = new Set(paths)
    for (const { path } of entries) gone.add(path)
    this.replace([...this.#entries.filter(({ path }) => !gone.has(path)), ...entries])
  }

  /** Writes other entries for all paths. */
  replace(entries: readonly IndexEntry[]): void {
    this.#entries = entries.toSorted((one, other) => compareBytes(one.path, other.path) || one.stage - other.stage)
    this.#byPath = null
    this.save()
  }

  save(): void {
    this.#folder.write('index', toBytes(this.#entries).toString('latin1'))
  }
}

function parse(bytes: Buffer): IndexEntry[] {
  if (bytes.toString('latin1', 0, 4) !== 'DIRC') throw fatal('index file corrupt')
  const version = bytes.readUInt32BE(4)
  if (version < 2 || version > 4) throw fatal(`bad index version ${version}`)
  const entries: IndexEntry[] = []
  let at = HEADER
  let before = ''
  for (let left = bytes.readUInt32BE(8); left > 0; left--) {
    const flags = bytes.readUInt16BE(at + 60)
    let start = at + FIXED + (flags & HAS_MORE_FLAGS ? 2 : 0)
    let prefix = ''
    if (version === 4) {
      // Paths lack what they have in common with the one before.
      let byte = bytes[start++] as number
      let cut = byte & 0x7f
      while (byte & 0x80) {
        byte = bytes[start++] as number
        cut = (cut + 1) * 128 + (byte & 0x7f)
      }
      prefix = before.slice(0, before.length - cut)
    }
    const end = bytes.indexOf(0, start)
    const path = prefix + bytes.toString('latin1', start, end)
    entries.push({
      path,
      id: bytes.toString('hex', at + 40, at + 60),
      mode: bytes.readUInt32BE(at + 24),
      stage: (flags >> 12) & 3,
      size: bytes.readUInt32BE(at + 36),
      modified: bytes.readUInt32BE(at + 8) * 1_000 + Math.floor(bytes.readUInt32BE(at + 12) / 1_000_000),
    })
    before = path
    at = version === 4 ? end + 1 : at + padded(end - at)
  }
  return entries
}

/** Returns the bytes of an entry of so many, with one to eight NULs at its end. */
function padded(length: number): number {
  return (length + 8) & ~7
}

function toBytes(entries: readonly IndexEntry[]): Buffer {
  const header = Buffer.alloc(HEADER)
  header.write('DIRC', 'latin1')
  header.writeUInt32BE(2, 4)
  header.writeUInt32BE(entries.length, 8)
  const body = Buffer.concat([header, ...entries.map(entryBytes)])
  return Buffer.concat([body, createHash('sha1').update(body).digest()])
}

function entryBytes({ path, id, mode, stage, size, modified }: IndexEntry): Buffer {
  const bytes = Buffer.alloc(padded(FIXED + path.length))
  const seconds = Math.floor(modified / 1_000)
  for (const at of [0, 8]) {
    bytes.writeUInt32BE(seconds, at)
    bytes.writeUInt32BE((modified - seconds * 1_000) * 1_000_000, at + 4)
  }
  bytes.writeUInt32BE(mode, 24)
  bytes.writeUInt32BE(size, 36)
  bytes.write(id, 40, 'hex')
  bytes.writeUInt16BE((stage << 12) | Math.min(path.length, 0xfff), 60)
  bytes.write(path, FIXED, 'latin1')
  return bytes
}
