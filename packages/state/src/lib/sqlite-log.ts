import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { LogEntry } from './session-store.ts'
import { assertIntact, checksumOf } from './sqlite-checksum.ts'
import { assertSessionRow } from './sqlite-session-row.ts'

/** Where a session stands in the file: the key of its row, and the number of its last entry, 0 for none. */
export interface Place {
  readonly key: number
  readonly last: number
}

interface EntryRow {
  readonly previous: number
  readonly revision: number
  readonly text: string
  readonly checksum: number
}

/** How many sessions' places are remembered. Past that, they are looked up again. */
const REMEMBERED = 16_384

/**
 * The step logs of all sessions in one append-only table; `sqlite-file.ts` says how a session finds its own entries.
 * What is written here belongs to the transaction of the caller.
 */
export class SqliteLog {
  readonly #insert: StatementSync
  readonly #entry: StatementSync
  readonly #delete: StatementSync
  readonly #session: StatementSync
  /** Places by session id: the file is this process's alone, so what was written once stays true. */
  readonly #remembered = new Map<string, Place>()
  #last: number

  constructor(database: DatabaseSync) {
    this.#insert = database.prepare(
      'INSERT INTO log_entry (number, previous, revision, text, checksum) VALUES (?, ?, ?, ?, ?)',
    )
    this.#entry = database.prepare('SELECT previous, revision, text, checksum FROM log_entry WHERE number = ?')
    this.#delete = database.prepare('DELETE FROM log_entry WHERE number = ?')
    this.#session = database.prepare('SELECT * FROM session WHERE id = ?')
    const { last } = database.prepare('SELECT max(number) AS last FROM log_entry').get() ?? {}
    this.#last = Number(last ?? 0)
  }

  /** The number that the next entry gets, of whichever session. */
  get next(): number {
    return this.#last + 1
  }

  /** Where a session stands; `null` where there is none of that id. */
  placeOf(id: string): Place | null {
    const remembered = this.#remembered.get(id)
    if (remembered) return remembered
    const row = this.#session.get(id)
    if (!row) return null
    const { key, last } = assertSessionRow(row)
    return { key, last }
  }

  /** Appends an entry of a session that stands at a place. */
  append(id: string, { key, last }: Place, { revision, text }: LogEntry): void {
    this.#last += 1
    const number = this.#last
    this.#insert.run(number, last, revision, text, checksumOf(id, number, last, revision, text))
    if (this.#remembered.size >= REMEMBERED) this.#remembered.clear()
    this.#remembered.set(id, { key, last: number })
  }

  read(id: string, after: number, limit: number): LogEntry[] {
    const entries = [...this.#entriesOf(id, after)].reverse().slice(0, limit)
    return entries.map(({ revision, text }) => ({ revision, text }))
  }

  remove(id: string): void {
    for (const { number } of this.#entriesOf(id, -1)) this.#delete.run(number)
    this.#remembered.delete(id)
  }

  /** Forgets what it remembers: the transaction that it was written in did not come to be. */
  forget(): void {
    this.#remembered.clear()
  }

  /** A session's entries after a revision, the youngest first. */
  *#entriesOf(id: string, after: number): Generator<EntryRow & { readonly number: number }> {
    for (let number = this.placeOf(id)?.last ?? 0; number > 0; ) {
      const row = (this.#entry.get(number) ?? {}) as Partial<EntryRow>
      const { previous = -1, revision = -1, text = '', checksum } = row
      assertIntact(`entry ${number} of the log`, checksum, id, number, previous, revision, text)
      if (revision <= after) return
      yield { number, previous, revision, text, checksum: checksum as number }
      number = previous
    }
  }
}
