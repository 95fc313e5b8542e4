import type { Database, Statement } from 'sql.js'
import type { VirtualClock } from '../clock/virtual-clock.ts'
import { DiskError, type EditedDisk } from '../disk/edited-disk.ts'
import { toBytes } from '../disk/file-content.ts'
import { openSqlEngine } from './sql-engine.ts'

/** A statement of a transaction that is open, with the time and the chance that it had. */
export interface OpenStatement {
  readonly sql: string
  /** Milliseconds since 1970. */
  readonly now: number
  readonly seed: readonly [number, number]
}

export interface SqlResult {
  /** The rows of all statements, one JSON object a line. */
  readonly stdout: string
  /** Why a statement failed; empty if none did. */
  readonly stderr: string
  readonly exitCode: 0 | 1
  /** The statements from `BEGIN` on of a transaction that is still open. */
  readonly transaction: readonly OpenStatement[]
}

/** Rows that one call returns at most. */
const MOST_ROWS = 1_000

/**
 * A statement that names another file. The engine has files of its own, which are gone with it: what is written there
 * would be lost without a word.
 */
const NAMES_FILE = /^(?:\s|--.*\n|\/\*(?:[^*]|\*(?!\/))*\*\/)*(?:attach\b|vacuum\b[\s\S]*\binto\b)/i

/**
 * Runs SQL statements over a SQLite database on the disk, which is created if there is none.
 *
 * A transaction that an earlier call has left open is played again from its statements, so that it goes on as if the
 * connection had stayed open; the disk has what it changed once it is committed. A statement that fails ends the call;
 * what the statements before it did stays.
 */
export async function runSql(
  disk: EditedDisk,
  path: string,
  sql: string,
  transaction: readonly OpenStatement[],
  { clock, seed }: { readonly clock: VirtualClock; readonly seed: readonly [number, number] },
): Promise<SqlResult> {
  const engine = await openSqlEngine()
  const lines: string[] = []
  let open: OpenStatement[] = [...transaction]
  let stderr = ''
  let database: Database | null = null
  try {
    const { now } = clock
    const exists = disk.at(disk.resolve(path, 'open')) !== null
    const before = exists ? toBytes(disk.read(path)) : new Uint8Array()
    database = new engine.Database(before)
    drawFrom(clock, database)
    for (const each of open) replay(database, each, clock)
    let failed: unknown = null
    try {
      let count = 0
      for (const statement of database.iterateStatements(sql)) {
        const each: OpenStatement = { sql: statement.getSQL(), now, seed: [seed[0], (seed[1] + ++count) >>> 0] }
        clock.begin(each.now, each.seed)
        failed = addRows(statement, lines)
        // A statement that fails may have changed something, such as INSERT OR FAIL.
        open = isOpen(database) ? [...open, each] : []
        if (failed) break
      }
    } catch (error) {
      // What is no statement.
      failed = error
    }
    if (open.length > 0) database.run('ROLLBACK')
    const after = database.export()
    if (!Buffer.from(before.buffer, before.byteOffset, before.length).equals(after)) disk.write(path, after)
    if (failed) throw failed
  } catch (error) {
    stderr = `Error: ${error instanceof DiskError ? error.said : (error as Error).message}\n`
  } finally {
    database?.close()
  }
  return { stdout: lines.map((line) => `${line}\n`).join(''), stderr, exitCode: stderr ? 1 : 0, transaction: open }
}

function addRows(statement: Statement, lines: string[]): unknown {
  try {
    assertOneFile(statement)
    while (statement.step()) {
      if (lines.length === MOST_ROWS)
        throw new Error(`more than ${MOST_ROWS} rows: narrow the query, or use LIMIT and OFFSET`)
      lines.push(JSON.stringify(rowOf(statement.getAsObject())))
    }
    return null
  } catch (error) {
    return error
  } finally {
    statement.reset()
  }
}

function assertOneFile(statement: Statement): void {
  if (NAMES_FILE.test(statement.getSQL()))
    throw new Error('ATTACH and VACUUM INTO are not available: a call has the one database that it names')
}

/** Returns a row as JSON can say it: bytes as hexadecimal digits. */
function rowOf(row: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value,
    ]),
  )
}

function replay(database: Database, { sql, now, seed }: OpenStatement, clock: VirtualClock): void {
  clock.begin(now, seed)
  try {
    for (const statement of database.iterateStatements(sql)) {
      assertOneFile(statement)
      while (statement.step());
    }
  } catch {
    // It failed before, too.
  }
}

/** The generator of SQLite cannot be set for each statement. */
function drawFrom(clock: VirtualClock, database: Database): void {
  database.create_function('random', () => Math.floor((clock.random() - 0.5) * 2 ** 53))
  database.create_function('randomblob', (size: number) => clock.bytes(Math.min(Math.max(1, size), 1_000_000)))
}

/** Returns whether a transaction is open. SQLite has no SQL to ask for it, but beginning one in another is an error. */
function isOpen(database: Database): boolean {
  try {
    database.run('BEGIN')
  } catch {
    return true
  }
  database.run('ROLLBACK')
  return false
}
