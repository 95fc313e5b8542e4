import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { LogEntry } from './session-store.ts'

/** Commits of a session between two blocks of its log. */
const BLOCK = 32

/**
 * The step logs of all sessions in one append-only table; `sqlite-file.ts` says how a session finds its own entries.
 * What is written here belongs to the transaction of the caller.
 */
export class SqliteLog {
  readonly #insert: StatementSync
  readonly #entry: StatementSync
  readonly #deleteEntry: StatementSync
  readonly #closeBlock: StatementSync
  readonly #clearRecent: StatementSync
  readonly #numbers: StatementSync
  readonly #deleteBlocks: StatementSync
  #last: number

  constructor(database: DatabaseSync) {
    this.#insert = database.prepare('INSERT INTO log_entry (number, revision, text) VALUES (?, ?, ?)')
    this.#entry = database.prepare('SELECT revision, text FROM log_entry WHERE number = ?')
    this.#deleteEntry = database.prepare('DELETE FROM log_entry WHERE number = ?')
    this.#closeBlock = database.prepare(
      `INSERT INTO log_block (session, revision, numbers)
       SELECT key, revision, recent FROM session WHERE id = ? AND recent <> ''`,
    )
    this.#clearRecent = database.prepare(`UPDATE session SET recent = '' WHERE id = ?`)
    this.#numbers = database.prepare(
      `SELECT revision, numbers FROM log_block WHERE session = (SELECT key FROM session WHERE id = ?1) AND revision > ?2
       UNION ALL SELECT revision + 1, recent FROM session WHERE id = ?1
       ORDER BY revision`,
    )
    this.#deleteBlocks = database.prepare(
      'DELETE FROM log_block WHERE session = (SELECT key FROM session WHERE id = ?)',
    )
    const { last } = database.prepare('SELECT max(number) AS last FROM log_entry').get() ?? {}
    this.#last = Number(last ?? 0)
  }

  /** What the session's `recent` gets added by the commit that appends the next entry. */
  get mark(): string {
    return `${this.#last + 1} `
  }

  append(entry: LogEntry): void {
    this.#last += 1
    this.#insert.run(this.#last, entry.revision, entry.text)
  }

  /** Keeps `recent` short: moves it to a block whenever a commit took the session past a multiple of {@link BLOCK}. */
  afterCommit(id: string, from: number, to: number): void {
    if (Math.floor(from / BLOCK) === Math.floor(to / BLOCK)) return
    this.#closeBlock.run(id)
    this.#clearRecent.run(id)
  }

  read(id: string, after: number, limit: number): LogEntry[] {
    const found: LogEntry[] = []
    for (const number of this.#numbersOf(id, after)) {
      if (found.length === limit) break
      const { revision, text } = this.#entry.get(number) as unknown as LogEntry
      if (revision > after) found.push({ revision, text })
    }
    return found
  }

  remove(id: string): void {
    for (const number of this.#numbersOf(id, -1)) this.#deleteEntry.run(number)
    this.#deleteBlocks.run(id)
  }

  /** Numbers of the entries after a revision, oldest first, and of some before it that share a block with them. */
  *#numbersOf(id: string, after: number): Generator<number> {
    for (const { numbers } of this.#numbers.iterate(id, after))
      for (const number of String(numbers).trimEnd().split(' ')) if (number) yield Number(number)
  }
}
