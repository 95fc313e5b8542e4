import { closeSync, openSync, readSync } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { parseSealedRecord } from '@episodic/protocol'
import { type UnpackedRows, unpackRows } from '@episodic/report/rows/row-batch'
import { contentOf, createRowTable, type RowTable } from '@episodic/report/rows/row-table'
import { HarnessError } from '@episodic/run/base/harness-error'
import { type IndexedPart, type IndexedRows, tailHash } from '@episodic/run/folder/index-lines'
import { RUN_FILES } from '@episodic/run/folder/record/run-folder'
import { readIndexFile, writeToIndex } from './index-file.ts'

/** Makes rows of sealed lines elsewhere, so that this thread goes on answering. See `indexLines`. */
export type IndexElsewhere = (part: IndexedPart, onRows: (rows: IndexedRows) => void) => Promise<void>

export interface RunIndexOptions {
  readonly folder: string
  /** Whose figures the rows have; left out if the environment has one seat. */
  readonly seat?: string | undefined
  readonly index: IndexElsewhere
  /** Called whenever rows were added, or all of them replaced. */
  readonly onChange: () => void
}

async function isOlder(one: string, other: string): Promise<boolean> {
  const [first, second] = await Promise.all([stat(one), stat(other)])
  return first.mtimeMs < second.mtimeMs
}

/** Packed rows in memory, in bytes, after which they are added to the index file. */
const MOST_UNWRITTEN = 1024 ** 2

/**
 * The rows of a run's sealed lines, in the order of the file. They are kept in `episodes.idx` beside it, so that the
 * lines are not read again; where the folder is not writable they are kept in memory alone. The file is a cache: where
 * it does not fit the lines it is made anew, and it may be deleted at any time.
 */
export class RunIndex {
  readonly #options: RunIndexOptions
  readonly #episodes: string
  readonly #file: string
  #table: RowTable
  #covered = 0
  #tail = ''
  #unreadable = 0
  /** Packed rows that the index file lacks; `null` where it cannot be written. */
  #unwritten: Uint8Array[] | null = []
  /** Whether the file fits the lines, so that rows can be added to it. */
  #fitsFile = false
  #writing: Promise<void> = Promise.resolve()
  #loaded = false
  readonly #begun = Promise.withResolvers<void>()
  #updating: Promise<void> | null = null
  /** Whether the file may have grown since it was looked at. */
  #isStale = false

  constructor(options: RunIndexOptions) {
    this.#options = options
    this.#episodes = join(options.folder, RUN_FILES.episodes)
    this.#file = join(options.folder, RUN_FILES.index)
    this.#table = this.#createTable()
  }

  get table(): RowTable {
    return this.#table
  }

  get covered(): number {
    return this.#covered
  }

  get unreadable(): number {
    return this.#unreadable
  }

  /** Resolves once there are some rows, or all lines have been read. */
  get begun(): Promise<void> {
    return this.#begun.promise
  }

  get isUpdating(): boolean {
    return this.#updating !== null
  }

  /** Makes rows of new lines. Rejects with `run-invalid` or `disk-failed` if the file cannot be read. */
  update(): Promise<void> {
    this.#isStale = true
    this.#updating ??= this.#updateAll().finally(() => {
      this.#updating = null
      this.#begun.resolve()
    })
    return this.#updating
  }

  write(): Promise<void> {
    this.#writing = this.#writing.then(() => this.#write())
    return this.#writing
  }

  async #write(): Promise<void> {
    const parts = this.#unwritten
    if (!parts || parts.length === 0) return
    const isNew = !this.#fitsFile
    this.#unwritten = []
    this.#fitsFile = true
    await writeToIndex(this.#file, parts, isNew).catch(() => {
      this.#unwritten = null
    })
  }

  #createTable(): RowTable {
    return createRowTable({ contentAt: (row) => this.#contentAt(row) })
  }

  /** Lines that were added after a look at the file are found by another look: nobody may ask again. */
  async #updateAll(): Promise<void> {
    while (this.#isStale) {
      this.#isStale = false
      await this.#update()
    }
  }

  async #update(): Promise<void> {
    const { size } = await stat(this.#episodes).catch((cause) => {
      if (cause.code === 'ENOENT') return { size: 0 }
      throw new HarnessError('disk-failed', `Cannot read ${this.#episodes}: ${cause.message}`, { cause })
    })
    if (!this.#loaded) await this.#load(size)
    if (size === this.#covered) return
    if (!(await this.#fits(size, this.#covered, this.#tail))) this.#forget()
    const { seat } = this.#options
    let adding = Promise.resolve()
    await this.#options.index({ file: this.#episodes, from: this.#covered, to: size, seat }, (part) => {
      this.#add(unpackRows(part.rows), part)
      this.#unwritten?.push(part.rows)
      const bytes = this.#unwritten?.reduce((sum, { length }) => sum + length, 0) ?? 0
      if (bytes > MOST_UNWRITTEN) adding = adding.then(() => this.write())
    })
    await adding
  }

  async #load(size: number): Promise<void> {
    this.#loaded = true
    const parts = await readIndexFile(this.#file, this.#options.seat ?? null)
    const last = parts?.at(-1)
    if (!parts || !last || !(await this.#fits(size, last.to, last.tail))) return
    // Lines that were edited in place have the same length.
    if (size === last.to && (await isOlder(this.#file, this.#episodes))) return
    for (const part of parts) this.#add(part.rows, part)
    this.#fitsFile = true
  }

  #add(rows: UnpackedRows, { to, tail, unreadable }: Omit<IndexedRows, 'rows'>): void {
    // What the place of the last row says has to be true before its content is asked for.
    this.#table.addRows(rows)
    this.#covered = to
    this.#tail = tail
    this.#unreadable += unreadable
    this.#begun.resolve()
    this.#options.onChange()
  }

  /** Whether the file still has the lines that have rows. */
  async #fits(size: number, covered: number, tail: string): Promise<boolean> {
    if (covered > size) return false
    if (covered === 0) return true
    let file: FileHandle | null = null
    try {
      file = await open(this.#episodes)
      return (await tailHash(file, covered)) === tail
    } catch {
      return false
    } finally {
      await file?.close()
    }
  }

  #forget(): void {
    this.#table = this.#createTable()
    this.#covered = 0
    this.#tail = ''
    this.#unreadable = 0
    if (this.#unwritten) this.#unwritten = []
    this.#fitsFile = false
    this.#options.onChange()
  }

  /** Reads a line again: lines of one play are rarely sealed twice. */
  #contentAt(row: number): number {
    const { offset, length, content } = this.#table.place(row)
    const file = openSync(this.#episodes, 'r')
    try {
      const bytes = Buffer.alloc(length)
      readSync(file, bytes, 0, length, offset)
      const parsed = parseSealedRecord(JSON.parse(bytes.toString('utf8')))
      return parsed.success ? contentOf(parsed.data) : content
    } finally {
      closeSync(file)
    }
  }
}
