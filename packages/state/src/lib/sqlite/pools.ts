import type { DatabaseSync } from 'node:sqlite'
import type { StoredPage, StoredSession } from '../store/session-store.ts'
import { addNumber, addText, areNumbers, assertIntact, START } from './checksum.ts'
import { createSqlitePages } from './pages.ts'
import type { SessionPosition } from './places.ts'
import { assertOrigin, type Origin } from './session-row.ts'

/** The pools of pages, and the sessions that use them. Writes are part of the caller's transaction. */
export function createSqlitePools(database: DatabaseSync) {
  /** The keys of the pools that stay without users. */
  let held: ReadonlySet<number> = new Set()
  const stored = createSqlitePages(database)
  const sql = {
    origin: database.prepare('SELECT * FROM session_origin WHERE session = ?'),
    find: database.prepare('SELECT * FROM pool WHERE name = ?'),
    insert: database.prepare('INSERT INTO pool (name, checksum) VALUES (?, ?)'),
    delete: database.prepare('DELETE FROM pool WHERE key = ?'),
    addUser: database.prepare('INSERT OR IGNORE INTO pool_user (pool, session, checksum) VALUES (?, ?, ?)'),
    removeUser: database.prepare('DELETE FROM pool_user WHERE pool = ? AND session = ?'),
    anyUser: database.prepare('SELECT * FROM pool_user WHERE pool = ? LIMIT 1'),
    unused: database.prepare('SELECT key FROM pool WHERE NOT EXISTS (SELECT 1 FROM pool_user WHERE pool = key)'),
  }
  return {
    find,
    /** Has a new session use its pool, made of `own`, and those that it names; one may be made of `shared`. */
    join(
      session: number,
      { pool, pools }: StoredSession,
      { shared, own }: { readonly shared: readonly StoredPage[]; readonly own: readonly StoredPage[] },
    ): void {
      for (const name of pools) use(name, session, shared)
      stored.add(use(pool, session), own)
    },
    add(place: SessionPosition, pages: readonly StoredPage[]): void {
      place.pool ??= use(originOf(place).pool, place.key)
      stored.add(place.pool, pages)
    },
    read(place: SessionPosition, names: readonly string[]): (string | null)[] {
      const { pool, pools } = originOf(place)
      const keys = [pool, ...pools].map((name) => find(name)).filter((key) => key !== null)
      return names.map((name) => {
        for (const key of keys) {
          const text = stored.text(key, name)
          if (text !== null) return text
        }
        return null
      })
    },
    /** Has a session use no pool any more. Removes each pool of which it was the last user, with its pages. */
    leave(session: number, { pool, pools }: Origin): void {
      for (const name of [pool, ...pools]) {
        const key = find(name)
        if (key === null) continue
        sql.removeUser.run(key, session)
        if (!hasUser(key) && !held.has(key)) remove(key)
      }
    },
    /** Keeps these pools without users, and removes all others, also those that a process held that has died. */
    hold(names: readonly string[]): void {
      held = new Set(names.map((name) => find(name)).filter((key) => key !== null))
      for (const { key } of sql.unused.all() as unknown as readonly { readonly key: number }[])
        if (!held.has(key)) remove(key)
    },
    count(): number {
      const onlyHeld = [...held].filter((key) => !hasUser(key))
      return stored.count() - onlyHeld.reduce((sum, key) => sum + stored.count(key), 0)
    },
    forgetAll(): void {
      stored.forgetLate()
    },
  }

  function find(name: string): number | null {
    const row = sql.find.get(name)
    if (!row) return null
    const { key, checksum } = row as { readonly key: number; readonly checksum: number }
    assertIntact(`the pool ${name}`, checksum === addText(START, name))
    return key
  }

  function use(name: string, session: number, pages: readonly StoredPage[] = []): number {
    const found = find(name)
    const pool = found ?? Number(sql.insert.run(name, addText(START, name)).lastInsertRowid)
    if (found === null) stored.add(pool, pages)
    sql.addUser.run(pool, session, userChecksum(pool, session))
    return pool
  }

  function remove(key: number): void {
    stored.remove(key)
    sql.delete.run(key)
  }

  function originOf({ key, id }: SessionPosition): Origin {
    const row = sql.origin.get(key) ?? {}
    return assertOrigin(id, row, row.checksum)
  }

  function hasUser(pool: number): boolean {
    const row = sql.anyUser.get(pool)
    if (!row) return false
    const { session, checksum } = row as { readonly session: number; readonly checksum: number }
    assertIntact(`a user of pool ${pool}`, areNumbers(session) && checksum === userChecksum(pool, session))
    return true
  }
}

function userChecksum(pool: number, session: number): number {
  return addNumber(addNumber(START, pool), session)
}
