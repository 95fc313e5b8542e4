import type { DatabaseSync } from 'node:sqlite'
import type { StoredPage } from '../store/session-store.ts'

/** Pages after which those that are not in the index yet are entered into it. */
const ENTERED_AT_ONCE = 1_024

type Numbers = Map<number, Map<string, number>>

/**
 * The pages of all pools in one append-only table; `database-file.ts` says how they are found. Writes are part of the
 * caller's transaction.
 *
 * No page has a checksum: its name says what its text is, and its reader compares them.
 */
export class SqlitePages {
  readonly #sql
  /** The newest pages, which are not in the index yet; `null` until they are looked for. */
  #late: { readonly numbers: Numbers; count: number } | null = null
  #last = 0

  constructor(database: DatabaseSync) {
    this.#sql = {
      insert: database.prepare('INSERT INTO page (number, pool, name, text) VALUES (?, ?, ?, ?)'),
      enter: database.prepare('INSERT OR REPLACE INTO page_index (pool, name, number) VALUES (?, ?, ?)'),
      find: database.prepare('SELECT number FROM page_index WHERE pool = ? AND name = ?'),
      text: database.prepare(
        'SELECT text FROM page_index JOIN page USING (number) WHERE page_index.pool = ? AND page_index.name = ?',
      ),
      lateText: database.prepare('SELECT text FROM page WHERE number = ?'),
      newest: database.prepare('SELECT number, pool, name FROM page ORDER BY number DESC'),
      delete: database.prepare('DELETE FROM page WHERE number = ?'),
      deleteEntered: database.prepare(
        'DELETE FROM page WHERE pool = ?1 AND number IN (SELECT number FROM page_index WHERE pool = ?1)',
      ),
      leave: database.prepare('DELETE FROM page_index WHERE pool = ?'),
      count: database.prepare('SELECT count(*) AS count FROM page'),
      countIn: database.prepare('SELECT count(*) AS count FROM page WHERE pool = ?'),
    }
  }

  add(pool: number, pages: readonly StoredPage[]): void {
    const late = this.#loadLate()
    for (const { name, text } of pages) {
      if (late.numbers.get(pool)?.has(name) || this.#sql.find.get(pool, name)) continue
      const number = ++this.#last
      this.#sql.insert.get(number, pool, name, text)
      keepNumber(late.numbers, pool, name, number)
      late.count += 1
    }
    if (late.count >= ENTERED_AT_ONCE) this.#enterLate()
  }

  text(pool: number, name: string): string | null {
    const late = this.#loadLate().numbers.get(pool)?.get(name)
    const row = late === undefined ? this.#sql.text.get(pool, name) : this.#sql.lateText.get(late)
    return typeof row?.text === 'string' ? row.text : null
  }

  remove(pool: number): void {
    const late = this.#loadLate()
    this.#sql.deleteEntered.run(pool)
    this.#sql.leave.run(pool)
    const numbers = late.numbers.get(pool)
    if (!numbers) return
    for (const number of numbers.values()) this.#sql.delete.run(number)
    late.numbers.delete(pool)
    late.count -= numbers.size
  }

  count(pool?: number): number {
    return Number((pool === undefined ? this.#sql.count.get() : this.#sql.countIn.get(pool))?.count)
  }

  /** Reads anew what is not in the index, after a transaction that added to it has failed. */
  forgetLate(): void {
    this.#late = null
  }

  /** In the order of the index, so that each part of it is written once. */
  #enterLate(): void {
    const { numbers } = this.#loadLate()
    for (const pool of [...numbers.keys()].sort((a, b) => a - b))
      for (const [name, number] of [...(numbers.get(pool) ?? [])].sort(([a], [b]) => (a < b ? -1 : 1)))
        this.#sql.enter.get(pool, name, number)
    this.#late = { numbers: new Map(), count: 0 }
  }

  /** The index takes all pages at once, so those that it lacks are newer than any that it has. */
  #loadLate(): { readonly numbers: Numbers; count: number } {
    if (this.#late) return this.#late
    const numbers: Numbers = new Map()
    let count = 0
    let last = 0
    for (const row of this.#sql.newest.iterate()) {
      const { number, pool, name } = row as { readonly number: number; readonly pool: number; readonly name: string }
      last ||= number
      if (this.#sql.find.get(pool, name)?.number === number) break
      keepNumber(numbers, pool, name, number)
      count += 1
    }
    this.#last = last
    this.#late = { numbers, count }
    return this.#late
  }
}

function keepNumber(numbers: Numbers, pool: number, name: string, number: number): void {
  const known = numbers.get(pool)
  if (known) known.set(name, number)
  else numbers.set(pool, new Map([[name, number]]))
}
