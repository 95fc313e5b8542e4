import { resolve } from 'node:path'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { LogEntry, SessionStore, StoredProgress, StoredSession } from './session-store.ts'
import { assertIntact, checksumOf } from './sqlite-checksum.ts'
import { orSqliteFault, sqliteFault } from './sqlite-fault.ts'
import { type Durability, openSqliteFile } from './sqlite-file.ts'
import { GroupCommit } from './sqlite-group-commit.ts'
import { SqliteLog } from './sqlite-log.ts'
import { assertSessionRow, sessionChecksum } from './sqlite-session-row.ts'
import { StateError } from './state-error.ts'

export interface SqliteStoreOptions {
  /**
   * What a commit outlives before it is answered: the death of the process (default), or a power cut too, at the
   * price of one disk sync for each turn of the event loop that writes.
   */
  readonly durability?: Durability | undefined
}

/**
 * Opens the store in the file at `path`, or makes it; the folder has to exist. Beside the file lies a `-wal`, part
 * of the store while it is open and after a crash. The file holds the secret from which handles are derived, so
 * only its owner may read it.
 *
 * One process at a time: a second opener gets `store-locked`, until the first closes the store or dies in any way.
 * Rejects with `store-invalid` where the file is damaged, of another application or of another version.
 * Don't open the file in this process by other means (to copy it, say) while the store is open: on POSIX systems
 * closing it again drops the lock.
 */
export async function openSqliteStore(path: string, options: SqliteStoreOptions = {}): Promise<SessionStore> {
  const file = resolve(path)
  const database = openSqliteFile(file, {
    durability: options.durability ?? 'process',
    secret: crypto.getRandomValues(new Uint8Array(32)),
  })
  try {
    return new SqliteStore(file, database)
  } catch (cause) {
    // Tables that are not ours: held open, the file would be locked for whoever comes to mend it.
    database.close()
    throw sqliteFault(file, cause)
  }
}

const SESSIONS = `SELECT session.*, text AS origin, session_origin.checksum AS originChecksum
  FROM session LEFT JOIN session_origin ON session = key`

class SqliteStore implements SessionStore {
  readonly #file: string
  readonly #database: DatabaseSync
  readonly #writes: GroupCommit
  readonly #log: SqliteLog
  readonly #insert: StatementSync
  readonly #insertOrigin: StatementSync
  readonly #update: StatementSync
  readonly #delete: StatementSync
  readonly #deleteOrigin: StatementSync
  readonly #read: StatementSync
  readonly #list: StatementSync
  readonly #idle: StatementSync
  readonly #count: StatementSync
  #open = true

  constructor(file: string, database: DatabaseSync) {
    this.#file = file
    this.#database = database
    this.#log = new SqliteLog(database)
    this.#writes = new GroupCommit(database, (cause) => {
      this.#log.forget()
      return sqliteFault(file, cause)
    })
    this.#insert = database.prepare(
      `INSERT INTO session (id, revision, epoch, touched_at, last, head, state, checksum) VALUES (?, ?, ?, ?, 0, ?, ?, ?)
       ON CONFLICT (id) DO NOTHING`,
    )
    this.#update = database.prepare(
      `UPDATE session SET revision = ?, epoch = ?, touched_at = ?, last = ?, head = ?, state = ?, checksum = ?
       WHERE key = ? AND revision = ? AND epoch = ?`,
    )
    this.#insertOrigin = database.prepare('INSERT INTO session_origin (session, text, checksum) VALUES (?, ?, ?)')
    this.#delete = database.prepare('DELETE FROM session WHERE id = ?')
    this.#deleteOrigin = database.prepare(
      'DELETE FROM session_origin WHERE session = (SELECT key FROM session WHERE id = ?)',
    )
    this.#read = database.prepare(`${SESSIONS} WHERE id = ?`)
    this.#list = database.prepare(`${SESSIONS} WHERE id > ? ORDER BY id LIMIT ?`)
    this.#idle = database.prepare('SELECT * FROM session WHERE touched_at < ? ORDER BY touched_at, id LIMIT ?')
    this.#count = database.prepare('SELECT count(*) AS count FROM session')
  }

  async secret(): Promise<Uint8Array> {
    return this.#ask(() => {
      const { text = '', checksum } = this.#database.prepare('SELECT text, checksum FROM secret').get() ?? {}
      assertIntact('its secret', checksum, String(text))
      return new Uint8Array(Buffer.from(String(text), 'base64url'))
    })
  }

  create(session: StoredSession): Promise<boolean> {
    return this.#write(() => {
      const { id, revision, epoch, touchedAt, head, state, origin } = session
      const checksum = sessionChecksum(session, 0)
      const { changes, lastInsertRowid } = this.#insert.run(id, revision, epoch, touchedAt, head, state, checksum)
      if (changes === 0) return false
      this.#insertOrigin.run(lastInsertRowid, origin, checksumOf(id, origin))
      return true
    })
  }

  async read(id: string): Promise<StoredSession | null> {
    return this.#ask(() => {
      const row = this.#read.get(id)
      return row ? asSession(row) : null
    })
  }

  commit(
    next: StoredProgress,
    expected: { readonly revision: number; readonly epoch: number },
    entry?: LogEntry,
  ): Promise<boolean> {
    return this.#write(() => {
      const { id, revision, epoch, touchedAt, head, state } = next
      const place = this.#log.placeOf(id)
      if (!place) return false
      const last = entry ? this.#log.next : place.last
      const { changes } = this.#update.run(
        revision,
        epoch,
        touchedAt,
        last,
        head,
        state,
        sessionChecksum(next, last),
        place.key,
        expected.revision,
        expected.epoch,
      )
      if (changes === 0) return false
      if (entry) this.#log.append(id, place, entry)
      return true
    })
  }

  remove(id: string): Promise<boolean> {
    return this.#write(() => {
      this.#log.remove(id)
      this.#deleteOrigin.run(id)
      return this.#delete.run(id).changes === 1
    })
  }

  async readLog(id: string, range: { readonly after: number; readonly limit: number }): Promise<LogEntry[]> {
    return this.#ask(() => this.#log.read(id, range.after, range.limit))
  }

  async list(page: { readonly after?: string | undefined; readonly limit: number }): Promise<StoredSession[]> {
    return this.#ask(() => this.#list.all(page.after ?? '', page.limit).map(asSession))
  }

  async idle(query: { readonly before: number; readonly limit: number }): Promise<string[]> {
    return this.#ask(() => this.#idle.all(query.before, query.limit).map((row) => assertSessionRow(row).id))
  }

  async count(): Promise<number> {
    return this.#ask(() => Number(this.#count.get()?.count))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#open) return
    this.#open = false
    this.#writes.flush()
    orSqliteFault(this.#file, () => this.#database.close())
  }

  #ask<T>(query: () => T): T {
    if (!this.#open) throw this.#closed()
    return orSqliteFault(this.#file, query)
  }

  #write<T>(change: () => T): Promise<T> {
    return this.#open ? this.#writes.run(change) : Promise.reject(this.#closed())
  }

  #closed(): StateError {
    return new StateError('store-unavailable', `The store ${this.#file} is closed.`)
  }
}

function asSession(row: Record<string, unknown>): StoredSession {
  const { id, revision, epoch, touched_at: touchedAt, head, state } = assertSessionRow(row)
  const origin = String(row.origin)
  assertIntact(`the origin of session ${id}`, row.originChecksum, id, origin)
  return { id, revision, epoch, touchedAt, origin, head, state }
}
