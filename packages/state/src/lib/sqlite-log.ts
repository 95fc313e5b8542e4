import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { LogEntry } from './session-store.ts'

/** How many sessions' last entries are remembered. Past that, they are looked up again. */
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
  readonly #lastOf: StatementSync
  /** Numbers of last entries, by session: the file is this process's alone, so what was written once stays true. */
  readonly #remembered = new Map<string, number>()
  #last: number

  constructor(database: DatabaseSync) {
    this.#insert = database.prepare('INSERT INTO log_entry (number, previous, revision, text) VALUES (?, ?, ?, ?)')
    this.#entry = database.prepare('SELECT revision, text FROM log_entry WHERE number = ?')
    this.#link = database.prepare('SELECT previous, revision FROM log_entry WHERE number = ?')
    this.#delete = database.prepare('DELETE FROM log_entry WHERE number = ?')
    this.#lastOf = database.prepare('SELECT last FROM session WHERE id = ?')
    const { last } = database.prepare('SELECT max(number) AS last FROM log_entry').get() ?? {}
    this.#last = Number(last ?? 0)
  }

  /** The number that the next entry gets, of whichever session. */
  get next(): number {
    return this.#last + 1
  }

  /** The number of a session's last entry; 0 where it has none. */
  lastOf(id: string): number {
    return this.#remembered.get(id) ?? Number(this.#lastOf.get(id)?.last ?? 0)
  }

  /** Appends a session's entry after its last one, `previous`. */
  append(id: string, previous: number, entry: LogEntry): void {
    this.#last += 1
    this.#insert.run(this.#last, previous, entry.revision, entry.text)
    if (this.#remembered.size >= REMEMBERED) this.#remembered.clear()
    this.#remembered.set(id, this.#last)
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
    for (let number = this.lastOf(id); number > 0; ) {
      const { previous, revision } = this.#link.get(number) as { previous: number; revision: number }
      if (revision <= after) return
      yield number
      number = previous
    }
  }
}
