import type { Database, Statement } from 'sql.js'
import type { VirtualClock } from '../clock/virtual-clock.ts'
import { DiskError, type EditedDisk } from '../disk/edited-disk.ts'
import { toBytes } from '../disk/file-content.ts'
import type { OpenStatement } from './open-statement.ts'
import { openSqlEngine } from './sql-engine.ts'

type ShowRow = (statement: Statement, database: Database, isFirst: boolean) => string

export interface SqlOptions {
  readonly clock: VirtualClock
  readonly seed: readonly [number, number]
  /** Default: JSON. */
  readonly show?: ShowRow
  /** Rows that are returned at most. Default: 1,000. */
  readonly rows?: number
}

export interface SqlResult {
  /** The rows of all statements, one JSON object a line. */
  readonly stdout: string
  /** Why a statement failed; empty if none did. */
  readonly stderr: string
  readonly exitCode: 0 | 1
  /** The statements from `BEGIN` on of a transaction that is still open. */
  readonly transaction: OpenStatement[]
}

const MOST_ROWS = 1_000

/**
 * A statement that names another file. The engine has files of its own, which are gone with it: what is written there
 * would be lost without a word.
 */
const NAMES_FILE = /^(?:\s|--.*\n|\/\*(?:[^*]|\*(?!\/))*\*\/)*(?:attach\b|vacuum\b[\s\S]*\binto\b)/i

/**
 * Runs SQL statements over a SQLite database on the disk, which is created if there is none; without a path, over one
 * in memory.
 *
 * A transaction that an earlier call has left open is played again from its statements, so that it goes on as if the
 * connection had stayed open; the disk has what it changed once it is committed. A statement that fails ends the call;
 * what the statements before it did stays.
 */
export async function runSql(
  disk: EditedDisk,
  path: string | null,
  sql: string,
  transaction: readonly OpenStatement[],
  { clock, seed, show = jsonRow, rows = MOST_ROWS }: SqlOptions,
): Promise<SqlResult> {
  const engine = await openSqlEngine()
  const lines: string[] = []
  let open: OpenStatement[] = [...transaction]
  let stderr = ''
  let database: Database | null = null
  try {
    const { now } = clock
    const exists = path !== null && disk.at(disk.resolve(path, 'open')) !== null
    const before = exists ? toBytes(disk.read(path)) : new Uint8Array()
    database = new engine.Database(before)
    // The tool plays open transactions again. A command begins anew, with the chance of its engine.
    if (show === jsonRow) drawFrom(clock, database)
    // Not even a statement that asks for it raises the limit again.
    database.run(`PRAGMA hard_heap_limit = ${MOST_MEMORY}`)
    for (const each of open) replay(database, each, clock)
    let failed: unknown = null
    try {
      let count = 0
      for (const statement of database.iterateStatements(sql)) {
        const each: OpenStatement = { sql: statement.getSQL(), now, seed: [seed[0], (seed[1] + ++count) >>> 0] }
        clock.begin(each.now, each.seed)
        failed = addRows(statement, database, lines, { show, rows })
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
    if (path !== null && !Buffer.from(before.buffer, before.byteOffset, before.length).equals(after))
      disk.write(path, after)
    if (failed) throw failed
  } catch (error) {
    stderr = `Error: ${error instanceof DiskError ? error.said : (error as Error).message}\n`
  } finally {
    database?.close()
  }
  return { stdout: lines.map((line) => `${line}\n`).join(''), stderr, exitCode: stderr ? 1 : 0, transaction: open }
}

function addRows(
  statement: Statement,
  database: Database,
  lines: string[],
  { show, rows }: { readonly show: ShowRow; readonly rows: number },
): unknown {
  try {
    assertOneFile(statement)
    for (let isFirst = true; statement.step(); isFirst = false) {
      if (lines.length === rows) throw new Error(`more than ${rows} rows: narrow the query, or use LIMIT and OFFSET`)
      lines.push(show(statement, database, isFirst))
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

const rawJson = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON

const jsonRow: ShowRow = (statement) => JSON.stringify(rowOf(statement))

/** Bytes that SQLite may take for a call, beside the database itself. */
const MOST_MEMORY = 128 * 1_048_576

/** Returns a row as JSON can say it: bytes as hexadecimal digits, integers with all of their digits. */
export function rowOf(statement: Statement): Record<string, unknown> {
  // Its types do not have the second argument.
  const read = statement.getAsObject as (params: null, options: object) => Record<string, unknown>
  const row = read.call(statement, null, { useBigInt: true })
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      value instanceof Uint8Array
        ? Buffer.from(value).toString('hex')
        : typeof value === 'bigint'
          ? rawJson(String(value))
          : value,
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
