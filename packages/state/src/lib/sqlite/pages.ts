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
export function createSqlitePages(database: DatabaseSync) {
  /** The newest pages, which are not in the index yet; `null` until they are looked for. */
  let late: { readonly numbers: Numbers; count: number } | null = null
  let lastKey = 0
  const sql = {
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
  return {
    add(pool: number, pages: readonly StoredPage[]): void {
      const late = loadLate()
      for (const { name, text } of pages) {
        if (late.numbers.get(pool)?.has(name) || sql.find.get(pool, name)) continue
        const number = ++lastKey
        sql.insert.get(number, pool, name, text)
        keepNumber(late.numbers, pool, name, number)
        late.count += 1
      }
      if (late.count >= ENTERED_AT_ONCE) enterLate()
    },
    text(pool: number, name: string): string | null {
      const late = loadLate().numbers.get(pool)?.get(name)
      const row = late === undefined ? sql.text.get(pool, name) : sql.lateText.get(late)
      return typeof row?.text === 'string' ? row.text : null
    },
    remove(pool: number): void {
      const late = loadLate()
      sql.deleteEntered.run(pool)
      sql.leave.run(pool)
      const numbers = late.numbers.get(pool)
      if (!numbers) return
      for (const number of numbers.values()) sql.delete.run(number)
      late.numbers.delete(pool)
      late.count -= numbers.size
    },
    count(pool?: number): number {
      return Number((pool === undefined ? sql.count.get() : sql.countIn.get(pool))?.count)
    },
    /** Reads anew what is not in the index, after a transaction that added to it has failed. */
    forgetLate(): void {
      late = null
    },
  }

  /** In the order of the index, so that each part of it is written once. */
  function enterLate(): void {
    const { numbers } = loadLate()
    for (const pool of [...numbers.keys()].sort((a, b) => a - b))
      for (const [name, number] of [...(numbers.get(pool) ?? [])].sort(([a], [b]) => (a < b ? -1 : 1)))
        sql.enter.get(pool, name, number)
    late = { numbers: new Map(), count: 0 }
  }

  /** The index takes all pages at once, so those that it lacks are newer than any that it has. */
  function loadLate(): { readonly numbers: Numbers; count: number } {
    if (late) return late
    const numbers: Numbers = new Map()
    let count = 0
    let last = 0
    for (const row of sql.newest.iterate()) {
      const { number, pool, name } = row as { readonly number: number; readonly pool: number; readonly name: string }
      last ||= number
      if (sql.find.get(pool, name)?.number === number) break
      keepNumber(numbers, pool, name, number)
      count += 1
    }
    lastKey = last
    late = { numbers, count }
    return late
  }
}

function keepNumber(numbers: Numbers, pool: number, name: string, number: number): void {
  const known = numbers.get(pool)
  if (known) known.set(name, number)
  else numbers.set(pool, new Map([[name, number]]))
}
