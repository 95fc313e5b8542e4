import { closeSync, openSync, realpathSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { storeInvalid } from '../state-error.ts'
import { addText, START } from './checksum.ts'
import { orSqliteFault } from './sqlite-fault.ts'

/** `process`: a commit survives the death of the process. `power`: a power cut too, for one more disk sync a turn. */
export type Durability = 'process' | 'power'

const SYNCHRONOUS: { readonly [durability in Durability]: string } = { process: 'NORMAL', power: 'FULL' }

/** "EPIS", for the header's field that identifies the application of a database. */
const APPLICATION_ID = 0x45504953

/**
 * Pages in the `-wal` file from which on a commit moves them to the main file: 32 MB. A thread moves them earlier, so a
 * commit rarely has to. Active sessions write the same pages again and again, so a longer log moves fewer pages.
 */
const WAL_PAGES = 8_000

const VERSION = 5

/**
 * Log entries are numbered across sessions in the order of their commits, so that a transaction appends to a few pages
 * however many sessions it touches; with an index entry for each step, most steps would write another page. A session's
 * entries are a linked list: the session has the number of its `last` entry, and each entry that of the one before it,
 * 0 for none. Retries and watchers read the newest entry; reading a whole log walks it from its end.
 *
 * The pages of states are numbered in the order of their commits, too: their names are random, so that each entry in
 * an index by name would write another page of the file. A thousand at a time are entered into `page_index`; until
 * then their numbers are kept in memory, and found again at the end of the table.
 *
 * There is no index on `touched_at` either: every step would move its entry, and a sweep reads ten thousand sessions in
 * some milliseconds. Every row has a checksum of its values, because SQLite does not check those.
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
    pools TEXT NOT NULL,
    checksum INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE log_entry (
    number INTEGER PRIMARY KEY,
    previous INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    text TEXT NOT NULL,
    state TEXT,
    checksum INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE pool (key INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, checksum INTEGER NOT NULL) STRICT;
  CREATE TABLE pool_user (
    pool INTEGER NOT NULL,
    session INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (pool, session)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE page (
    number INTEGER PRIMARY KEY,
    pool INTEGER NOT NULL,
    name TEXT NOT NULL,
    text TEXT NOT NULL
  ) STRICT;
  CREATE TABLE page_index (
    pool INTEGER NOT NULL,
    name TEXT NOT NULL,
    number INTEGER NOT NULL,
    PRIMARY KEY (pool, name)
  ) STRICT, WITHOUT ROWID;
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${VERSION};
`

export type SqliteFile = ReturnType<typeof openSqliteFile>

/**
 * Opens the database at `path`, or creates it with `secret` in it, and locks it until it is closed or the process dies.
 *
 * Throws `store-locked` if another opener holds it; `store-invalid` if it is damaged or belongs to another application
 * or version, and then leaves it unchanged; `store-unavailable` if the file cannot be used at all.
 */
export function openSqliteFile(
  path: string,
  { durability, secret }: { readonly durability: Durability; readonly secret: Uint8Array },
) {
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
        const isNew = isEmpty(path, database)
        database.exec(
          `PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = ${WAL_PAGES}; PRAGMA synchronous = ${SYNCHRONOUS[durability]}`,
        )
        if (isNew) createTables(database, secret)
        // The real path, without links.
        return { path: real, database, close }
      } catch (cause) {
        close()
        throw cause
      }
    },
    'opening',
  )
}

/**
 * Locks the store at `path` for this process, until the lock is closed or the process dies in any way. It is a lock of
 * the file system on an empty database beside the store, so that threads of this process can still share the store.
 * Throws SQLite's `SQLITE_BUSY` if another opener has the lock.
 */
function lockStore(path: string): DatabaseSync {
  const lock = new DatabaseSync(`${path}-lock`)
  try {
    lock.exec('BEGIN EXCLUSIVE')
    return lock
  } catch (cause) {
    lock.close()
    throw cause
  }
}

/** Creates the file, readable by its owner alone for the store's secret. Does not change an existing file. */
function createPrivately(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch (cause) {
    // An existing file is not opened here: closing it would drop the lock that a store of this process has on it.
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause
  }
}

/** Throws if there is something that is not an undamaged store. */
function isEmpty(path: string, database: DatabaseSync): boolean {
  const ask = (sql: string) => Object.values(database.prepare(sql).get() ?? {})[0]
  const application = ask('PRAGMA application_id')
  const version = ask('PRAGMA user_version')
  if (application === 0 && version === 0 && ask('SELECT count(*) FROM sqlite_schema') === 0) return true
  if (application !== APPLICATION_ID)
    throw storeInvalid(`${path} is the database of another application. Name another file.`)
  if (version !== VERSION)
    throw storeInvalid(
      `The store ${path} is of version ${version}, and this release uses version ${VERSION}. Open it with the release that wrote it, or name a new file.`,
    )
  const problem = ask('PRAGMA integrity_check(1)')
  if (problem !== 'ok')
    throw storeInvalid(`The store ${path} is damaged (${problem}). Restore it from a copy, or name a new file.`)
  return false
}

function createTables(database: DatabaseSync, secret: Uint8Array): void {
  database.exec(`BEGIN; ${TABLES}`)
  const text = Buffer.from(secret).toString('base64url')
  database.prepare('INSERT INTO secret VALUES (?, ?)').run(text, addText(START, text))
  database.exec('COMMIT')
}
