import { open } from 'node:fs/promises'
import type { SealedRecord } from '@episodic/protocol'
import type { EpisodeColumns } from '@episodic/report/rows/columns'
import type { RowTable } from '@episodic/report/rows/row-table'
import { rowWords } from '@episodic/report/view/row-words'
import type { RowWords, TaskRows } from '@episodic/report/view/run-entry'
import { HarnessError } from '@episodic/run/base/harness-error'
import { HttpProblem } from '../http-problem.ts'

const MOST_TASKS = 20

export class RunRows {
  readonly #episodes: string
  readonly table: RowTable

  constructor(episodes: string, table: RowTable) {
    this.#episodes = episodes
    this.table = table
  }

  /** Returns columns by their names. Default: all. Throws `invalid` for a name that no run has. */
  columns(names?: readonly string[]): EpisodeColumns {
    const columns = this.table.columns(names)
    const missing = names?.filter((name) => !(name in columns.columns) && !name.startsWith('term.')) ?? []
    if (missing.length > 0) throw new HttpProblem('invalid', `There is no column ${missing.join(', ')}.`)
    return columns
  }

  ofTasks(ids: readonly string[]): ReadonlyMap<string, readonly number[]> {
    const { table } = this
    const byNumber = new Map(ids.map((id) => [table.taskNumber(id), { id, rows: [] as number[] }]))
    for (let row = 0; row < table.size; row++) byNumber.get(table.at('task', row))?.rows.push(row)
    return new Map([...byNumber.values()].filter(({ rows }) => rows.length > 0).map(({ id, rows }) => [id, rows]))
  }

  /** Returns the tasks whose ids begin with a prefix, at most 20. */
  async tasks(prefix: string): Promise<TaskRows[]> {
    const chosen = this.ofTasks(this.table.tasks.filter((id) => id.startsWith(prefix)).slice(0, MOST_TASKS))
    const words = await this.words([...chosen.values()].map(([first]) => first as number))
    return [...chosen].map(([task, rows], i) => ({ task, prompt: words[i]?.prompt ?? '', rows }))
  }

  async words(rows: readonly number[]): Promise<RowWords[]> {
    const lines = await this.lines(rows)
    return lines.map((line, i) => ({ row: rows[i] as number, ...rowWords(parsed(line, rows[i])) }))
  }

  async record(row: number): Promise<SealedRecord> {
    return parsed(await this.line(row), row)
  }

  async line(row: number): Promise<Buffer> {
    return (await this.lines([row]))[0] as Buffer
  }

  /** Reads lines as they were sealed. Rejects with `row-not-found` for a row that is not there. */
  async lines(rows: readonly number[]): Promise<Buffer[]> {
    const { size } = this.table
    for (const row of rows)
      if (!Number.isInteger(row) || row < 0 || row >= size)
        throw new HttpProblem('row-not-found', `The run has no row ${row}. Its rows are 0 to ${size - 1}.`)
    if (rows.length === 0) return []
    await using file = await open(this.#episodes)
    const lines: Buffer[] = []
    for (const row of rows) {
      const { offset, length } = this.table.place(row)
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, offset)
      lines.push(buffer.subarray(0, bytesRead))
    }
    return lines
  }
}

function parsed(line: Buffer, row: number | undefined): SealedRecord {
  try {
    return JSON.parse(line.toString('utf8'))
  } catch (cause) {
    throw new HarnessError('run-invalid', `The line of row ${row} has changed since it was read.`, { cause })
  }
}
