import { statfs } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { StateError } from '../state-error.ts'
import { pagesMissing } from '../store/pages-missing.ts'
import type { SessionStore } from '../store/session-store.ts'
import { SqliteCheckpointer } from './checkpointer.ts'
import { addText, areTexts, assertIntact, START } from './checksum.ts'
import { type Durability, openSqliteFile, type SqliteFile } from './database-file.ts'
import { createGroupCommit, type GroupCommit } from './group-commit.ts'
import { createSqlitePlaces } from './places.ts'
import { createSqlitePools } from './pools.ts'
import { asSession, assertOrigin, assertSessionRow, originChecksum, sessionChecksum } from './session-row.ts'
import { orSqliteFault, sqliteFault } from './sqlite-fault.ts'
import { createSqliteLog } from './step-log.ts'

interface SqliteStoreOptions {
  /**
   * What an acknowledged commit survives: the death of the process (`process`, the default), or a power cut too
   * (`power`), for one disk sync in each turn of the event loop that writes.
   */
  readonly durability?: Durability | undefined
}

/** Bytes that the disk of a store has left at least while it is called writable. */
const LEAST_ROOM = 1_048_576

/**
 * Opens the store in the file at `path`, or creates it; the folder must exist. Beside the file are `-wal` and `-shm`,
 * part of the store while it is open and after a crash, and `-lock`, which is empty. The file holds the secret from
 * which handles are derived, so only its owner may read it.
 *
 * One process at a time: a second opener gets `store-locked` until the first closes the store or dies in any way.
 * Rejects with `store-invalid` if the file is damaged or belongs to another application or version. Do not open the
 * file in this process by other means, for example to copy it, while the store is open: on POSIX systems closing it
 * drops the locks.
 */
export async function openSqliteStore(path: string, options: SqliteStoreOptions = {}): Promise<SessionStore> {
  const file = openSqliteFile(resolve(path), {
    durability: options.durability ?? 'process',
    secret: crypto.getRandomValues(new Uint8Array(32)),
  })
  try {
    return createSqliteStore(file)
  } catch (cause) {
    // The tables are not ours. Closes the file, since it could not be repaired while it is locked.
    file.close()
    throw sqliteFault(file.path, cause, 'opening')
  }
}

const SESSIONS = `SELECT session.*, text, base, pools, session_origin.checksum AS originChecksum
  FROM session LEFT JOIN session_origin ON session = key`

function createSqliteStore(file: SqliteFile) {
  let isOpen = true
  const { path, database } = file
  const checkpointer = new SqliteCheckpointer(path)
  const log = createSqliteLog(database)
  const places = createSqlitePlaces(database)
  const pooled = createSqlitePools(database)
  const writes: GroupCommit = createGroupCommit(
    database,
    (cause) => {
      places.forgetAll()
      pooled.forgetAll()
      return sqliteFault(path, cause)
    },
    (writes) => checkpointer.wrote(writes),
  )
  const sql = {
    insert: database.prepare(
      `INSERT INTO session (id, revision, epoch, touched_at, last, head, state, checksum) VALUES (?, ?, ?, ?, 0, ?, ?, ?)
       ON CONFLICT (id) DO NOTHING`,
    ),
    update: database.prepare(
      `UPDATE session SET revision = ?, epoch = ?, touched_at = ?, last = ?, head = ?, state = ?, checksum = ?
       WHERE key = ?`,
    ),
    insertOrigin: database.prepare(
      'INSERT INTO session_origin (session, text, base, pools, checksum) VALUES (?, ?, ?, ?, ?)',
    ),
    delete: database.prepare('DELETE FROM session WHERE key = ?'),
    deleteOrigin: database.prepare('DELETE FROM session_origin WHERE session = ? RETURNING *'),
    read: database.prepare(`${SESSIONS} WHERE id = ?`),
    list: database.prepare(`${SESSIONS} WHERE id > ? ORDER BY id LIMIT ?`),
    idle: database.prepare('SELECT * FROM session WHERE touched_at < ? ORDER BY touched_at, id LIMIT ?'),
    count: database.prepare('SELECT count(*) AS count FROM session'),
  }
  return {
    async secret() {
      return ask(() => {
        const { text, checksum } = (file.database.prepare('SELECT text, checksum FROM secret').get() ?? {}) as {
          readonly text: string
          readonly checksum: number
        }
        assertIntact('its secret', areTexts(text) && checksum === addText(START, text))
        return new Uint8Array(Buffer.from(text, 'base64url'))
      })
    },
    async checkWritable() {
      await writing(() => void file.database.prepare('UPDATE secret SET text = text').run())
      // So little is often written where no session has room any more.
      const { blocks, bavail, bsize } = await statfs(dirname(file.path)).catch((cause) => {
        throw sqliteFault(file.path, cause)
      })
      // Some file systems do not say how large they are.
      if (blocks > 0 && bavail * bsize < LEAST_ROOM)
        throw sqliteFault(file.path, new Error(`its disk has less than ${LEAST_ROOM} bytes left`))
    },
    async create(session, shared, own = []) {
      const { id, revision, epoch, touchedAt, head, state, origin: text, base } = session
      const pools = JSON.stringify([session.pool, ...session.pools])
      const answer = await writing(() => {
        const missing = session.pools.find((name) => name !== shared?.pool && pooled.find(name) === null)
        // Not thrown here, where it would reject the other writes of the turn.
        if (missing !== undefined) return places.of(id) === null && pagesMissing(id, missing)
        const checksum = sessionChecksum(addText(START, id), session, 0)
        const { changes, lastInsertRowid } = sql.insert.run(id, revision, epoch, touchedAt, head, state, checksum)
        if (changes === 0) return false
        sql.insertOrigin.run(lastInsertRowid, text, base, pools, originChecksum(id, { text, base, pools }))
        if (session.pools.length + own.length > 0)
          pooled.join(Number(lastInsertRowid), session, { shared: shared?.pages ?? [], own })
        return true
      })
      if (StateError.is(answer)) throw answer
      return answer
    },
    async read(id) {
      return ask(() => {
        const row = sql.read.get(id)
        return row ? asSession(row) : null
      })
    },
    commit(next, expected, entry, pages = []) {
      return writing(() => {
        const { id, revision, epoch, touchedAt, head, state } = next
        const place = places.of(id)
        if (place?.revision !== expected.revision || place.epoch !== expected.epoch) return false
        if (entry) log.append(place, entry)
        if (pages.length > 0) pooled.add(place, pages)
        const checksum = sessionChecksum(place.sum, next, place.last)
        sql.update.get(revision, epoch, touchedAt, place.last, head, state, checksum, place.key)
        place.revision = revision
        place.epoch = epoch
        return true
      })
    },
    remove(id) {
      return writing(() => {
        const place = places.of(id)
        if (!place) return false
        log.remove(place)
        const origin = sql.deleteOrigin.get(place.key) ?? {}
        pooled.leave(place.key, assertOrigin(id, origin, origin.checksum))
        sql.delete.run(place.key)
        places.forget(id)
        return true
      })
    },
    async readLog(id, range) {
      return ask(() => {
        const place = places.of(id)
        return place ? log.read(place, range.after, range.limit) : []
      })
    },
    async list(page) {
      return ask(() => sql.list.all(page.after ?? '', page.limit).map(asSession))
    },
    async idle(query) {
      return ask(() => sql.idle.all(query.before, query.limit).map((row) => assertSessionRow(row).id))
    },
    async count() {
      return ask(() => Number(sql.count.get()?.count))
    },
    async readPages(id, names) {
      return ask(() => {
        const place = places.of(id)
        return place ? pooled.read(place, names) : names.map(() => null)
      })
    },
    async hold(pools) {
      await writing(() => pooled.hold(pools))
    },
    async countPages() {
      return ask(() => pooled.count())
    },
    async [Symbol.asyncDispose]() {
      if (!isOpen) return
      isOpen = false
      writes.flush()
      await checkpointer[Symbol.asyncDispose]()
      orSqliteFault(file.path, () => file.close())
    },
  } satisfies SessionStore

  function ask<T>(query: () => T): T {
    if (!isOpen) throw closed()
    return orSqliteFault(file.path, query)
  }

  function writing<T>(change: () => T): Promise<T> {
    return isOpen ? writes.run(change) : Promise.reject(closed())
  }

  function closed(): StateError {
    return new StateError('store-unavailable', `The store ${file.path} is closed.`)
  }
}
