import { closeSync, openSync, realpathSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { StateError } from '../state-error.ts'
import { addText, START } from './checksum.ts'
import { lockStore } from './file-lock.ts'
import { orSqliteFault } from './sqlite-fault.ts'

/** `process`: a commit outlives the process. `power`: it outlives a power cut too, for one more disk sync a turn. */
export type Durability = 'process' | 'power'

const SYNCHRONOUS: { readonly [durability in Durability]: string } = { process: 'NORMAL', power: 'FULL' }

/** "EPIS", in the header's field that tells one application's databases from another's. */
const APPLICATION_ID = 0x45504953

/**
 * Pages in the `-wal` file from which on a commit moves them to the file itself: 32 MB. A thread moves them earlier, so a
 * commit finds little left to do; sessions in play write the same pages again and again, so a longer log moves fewer.
 */
const WAL_PAGES = 8_000

/** Version of the tables. */
const VERSION = 4

/**
 * Log entries are numbered across sessions in the order of their commits, so that a transaction appends to a few
 * pages however many sessions it touches; an index entry for each step would make most steps write a page of their
 * own. A session's entries are a chain: the session knows its `last`, and each entry the one before it, 0 for none.
 * There is no index on `touched_at` either: every step would move its entry, and a sweep reads ten thousand sessions in
 * some milliseconds. Every row has a checksum of its values, because SQLite does not look after those. Finding the youngest log entry is what retries and watchers want, and reading a whole log walks it from its end.
 */
const TABLES = `
  CREATE TABLE secret (text TEXT NOT NULL, checksum INTEGER NOT NULL) STRICT;
  CREATE TABLE session (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    revision INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    touched_at REAL NOT NULL,
    last INTEGER NOT NULL,
    head TEXT NOT NULL,
    state TEXT NOT NULL,
    checksum INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE session_origin (
    session INTEGER PRIMARY KEY,
    text TEXT NOT NULL,
    base TEXT,
    checksum INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE log_entry (
    number INTEGER PRIMARY KEY,
    previous INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    text TEXT NOT NULL,
    checksum INTEGER NOT NULL
  ) STRICT;
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${VERSION};
`

/** The file of a store, which this process holds alone. */
export interface SqliteFile {
  /** Where it is, by any name: no links. */
  readonly path: string
  readonly database: DatabaseSync
  close(): void
}

/**
 * Opens the database at `path`, or makes it with `secret` in it, and holds it alone until it is closed or the process dies.
 *
 * Throws `store-locked` when somebody else holds it; `store-invalid` when it is damaged, of another application or
 * of another version, and then leaves it as it was; `store-unavailable` when the file cannot be used at all.
 */
export function openSqliteFile(
  path: string,
  { durability, secret }: { readonly durability: Durability; readonly secret: Uint8Array },
): SqliteFile {
  return orSqliteFault(
    path,
    () => {
      createPrivately(path)
      const real = realpathSync(path)
      const lock = lockStore(real)
      const database = new DatabaseSync(real)
      const close = () => {
        database.close()
        lock.close()
      }
      try {
        const isNew = inspect(path, database)
        database.exec(
          `PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = ${WAL_PAGES}; PRAGMA synchronous = ${SYNCHRONOUS[durability]}`,
        )
        if (isNew) createTables(database, secret)
        return { path: real, database, close }
      } catch (cause) {
        close()
        throw cause
      }
    },
    'opening',
  )
}

/** Makes the file readable by its owner alone: the store's secret is in it. An existing file is left alone. */
function createPrivately(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch (cause) {
    // Never opened to look inside: closing it again would drop the lock of a store of this process on it.
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause
  }
}

/** Says whether the database is empty, and throws where it is neither that nor a sound store. */
function inspect(path: string, database: DatabaseSync): boolean {
  const ask = (sql: string) => Object.values(database.prepare(sql).get() ?? {})[0]
  const application = ask('PRAGMA application_id')
  const version = ask('PRAGMA user_version')
  if (application === 0 && version === 0 && ask('SELECT count(*) FROM sqlite_schema') === 0) return true
  if (application !== APPLICATION_ID)
    throw new StateError('store-invalid', `${path} is the database of another application. Name another file.`)
  if (version !== VERSION)
    throw new StateError(
      'store-invalid',
      `The store ${path} is of version ${version}, and this release uses version ${VERSION}. Open it with the release that wrote it, or name a new file.`,
    )
  const problem = ask('PRAGMA integrity_check(1)')
  if (problem !== 'ok')
    throw new StateError(
      'store-invalid',
      `The store ${path} is damaged (${problem}). Restore it from a copy, or name a new file.`,
    )
  return false
}

function createTables(database: DatabaseSync, secret: Uint8Array): void {
  database.exec(`BEGIN; ${TABLES}`)
  const text = Buffer.from(secret).toString('base64url')
  database.prepare('INSERT INTO secret VALUES (?, ?)').run(text, addText(START, text))
  database.exec('COMMIT')
}
