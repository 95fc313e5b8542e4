import { type Command, defineCommand } from 'just-bash'
import type { Database, Statement } from 'sql.js'
import { decodeBytes } from '../bytes/byte-text.ts'
import type { VirtualClock } from '../clock/virtual-clock.ts'
import { absolutePath } from '../disk/disk.ts'
import type { EditedDisk } from '../disk/edited-disk.ts'
import { rowOf, runSql } from './run-sql.ts'

const MOST_ROWS = 100_000

/** `sqlite3` over databases on the disk, in the forms that print lists and JSON; everything else is refused. */
export const sqlite3 = (disk: EditedDisk, clock: VirtualClock): Command =>
  defineCommand('sqlite3', async (given, { cwd, stdin }) => {
    const args = [...given]
    let [separator, hasHeader, isJson] = ['|', false, false]
    while (args[0]?.startsWith('-')) {
      const option = args.shift()
      if (/^--?header$/.test(option ?? '')) hasHeader = true
      else if (/^--?json$/.test(option ?? '')) isJson = true
      else if (/^--?separator$/.test(option ?? '')) separator = args.shift() ?? ''
      else if (!/^--?(list|noheader|batch|bail)$/.test(option ?? ''))
        return failed(`option ${option} is not available here: there are -header, -json and -separator`)
    }
    const [name = ':memory:', ...rest] = args
    const sql = rest.length > 0 ? rest.join(';\n') : decodeBytes(Buffer.from(stdin as never, 'latin1'))
    if (/^\s*\.\w/m.test(sql)) return failed('dot commands are not available here: select sql from sqlite_schema')
    const path = name === ':memory:' || name === '' ? null : absolutePath(cwd, name)
    const listed = (statement: Statement, database: Database, isFirst: boolean) => {
      // Its types do not have the second argument.
      const read = statement.get as (params: null, options: object) => unknown[]
      const row = read.call(statement, null, { useBigInt: true })
      const header = hasHeader && isFirst ? `${statement.getColumnNames().join(separator)}\n` : ''
      return header + row.map((value) => textFor(value, database)).join(separator)
    }
    const json = (statement: Statement) => JSON.stringify(rowOf(statement))
    const seed = [Math.floor(clock.random() * 2 ** 32), Math.floor(clock.random() * 2 ** 32)] as const
    const result = await runSql(disk, path, sql, [], { clock, seed, show: isJson ? json : listed, rows: MOST_ROWS })
    const lines = result.stdout.trimEnd().split('\n')
    const stdout = isJson && result.stdout !== '' ? `[${lines.join(',\n')}]\n` : result.stdout
    return { stdout, stderr: result.stderr, exitCode: result.exitCode }
  })

function failed(stderr: string) {
  return { stdout: '', stderr: `sqlite3: ${stderr}\n`, exitCode: 1 }
}

/** Returns a value as SQLite writes it. An integer is a bigint here, and every number a real one. */
function textFor(value: unknown, database: Database): string {
  if (value === null) return ''
  if (value instanceof Uint8Array) return decodeBytes(value)
  if (typeof value !== 'number') return String(value)
  const [result] = database.exec("SELECT printf('%!.15g', ?)", [value])
  return String(result?.values[0]?.[0])
}
