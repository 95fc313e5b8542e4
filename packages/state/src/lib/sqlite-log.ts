import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { LogEntry } from './session-store.ts'

/** Where a session stands in the file: the key of its row, and the number of its last entry, 0 for none. */
export interface Place {
  readonly key: number
  readonly last: number
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
  readonly #link: StatementSync
  readonly #delete: StatementSync
  readonly #place: StatementSync
  /** Places by session id: the file is this process's alone, so what was written once stays true. */
  readonly #remembered = new Map<string, Place>()
  #last: number

  constructor(database: DatabaseSync) {
    this.#insert = database.prepare('INSERT INTO log_entry (number, previous, revision, text) VALUES (?, ?, ?, ?)')
    this.#entry = database.prepare('SELECT revision, text FROM log_entry WHERE number = ?')
    this.#link = database.prepare('SELECT previous, revision FROM log_entry WHERE number = ?')
    this.#delete = database.prepare('DELETE FROM log_entry WHERE number = ?')
    this.#place = database.prepare('SELECT key, last FROM session WHERE id = ?')
    const { last } = database.prepare('SELECT max(number) AS last FROM log_entry').get() ?? {}
    this.#last = Number(last ?? 0)
  }

  /** The number that the next entry gets, of whichever session. */
  get next(): number {
    return this.#last + 1
  }

  /** Where a session stands; `null` where there is none of that id. */
  placeOf(id: string): Place | null {
    return this.#remembered.get(id) ?? (this.#place.get(id) as Place | undefined) ?? null
  }

  /** Appends an entry of a session that stands at a place. */
  append(id: string, { key, last }: Place, entry: LogEntry): void {
    this.#last += 1
    this.#insert.run(this.#last, last, entry.revision, entry.text)
    if (this.#remembered.size >= REMEMBERED) this.#remembered.clear()
    this.#remembered.set(id, { key, last: this.#last })
  }

  read(id: string, after: number, limit: number): LogEntry[] {
    const numbers = [...this.#numbersOf(id, after)].reverse().slice(0, limit)
    return numbers.map((number) => ({ ...(this.#entry.get(number) as unknown as LogEntry) }))
  }

  remove(id: string): void {
    for (const number of this.#numbersOf(id, -1)) this.#delete.run(number)
    this.#remembered.delete(id)
  }

  /** Forgets what it remembers: the transaction that it was written in did not come to be. */
  forget(): void {
    this.#remembered.clear()
  }

  /** Numbers of a session's entries after a revision, the youngest first. */
  *#numbersOf(id: string, after: number): Generator<number> {
    for (let number = this.placeOf(id)?.last ?? 0; number > 0; ) {
      const { previous, revision } = this.#link.get(number) as { previous: number; revision: number }
      if (revision <= after) return
      yield number
      number = previous
    }
  }
}
