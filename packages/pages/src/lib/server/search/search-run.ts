import { open } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import type { RowTable } from '@episodic/report/rows/row-table'
import { sealedShape } from '@episodic/report/rows/sealed-shape'
import { findInRecord } from '@episodic/report/search/find-in-record'
import type { SearchField, SearchHit, SearchProgress } from '@episodic/report/view/search-hit'
import { lineBlocks } from '@episodic/run/folder/line-blocks'
import type { ViewedRun } from '../folder/viewed-run.ts'

/** Milliseconds of searching after which others are answered. */
const TURN = 10

/** What is searched for, and where; everywhere if `fields` are left out. */
export interface RunSearch {
  readonly text: string
  readonly fields?: readonly SearchField[] | undefined
  readonly signal: AbortSignal
}

export async function* searchRun(
  run: ViewedRun,
  { text, fields, signal }: RunSearch,
): AsyncGenerator<SearchHit | SearchProgress, void, undefined> {
  const { id } = run.found
  const index = await run.index()
  await index.update().catch(() => {})
  const { table, covered: totalBytes } = index
  let [hits, bytes] = [0, 0]
  const progress = (done: boolean): SearchProgress => ({ run: id, hits, bytes, totalBytes, done })
  if (totalBytes > 0) {
    await using file = await open(run.episodes)
    let turned = performance.now()
    for await (const block of lineBlocks(file, 0, totalBytes)) {
      for (const [start, end] of linesWith(plainPart(text), block)) {
        const row = rowAt(table, block.offset + start)
        const record = row === null ? null : sealedShape(JSON.parse(block.bytes.toString('utf8', start, end)))
        if (row === null || !record) continue
        const { task, attempt, try: number } = record
        for (const found of findInRecord(record, text, fields)) {
          hits += 1
          yield { run: id, row, task: task.id, attempt, try: number, ...found }
        }
        if (performance.now() - turned > TURN) {
          await setImmediate()
          signal.throwIfAborted()
          turned = performance.now()
        }
      }
      bytes = block.offset + (block.lines.at(-1)?.[1] ?? 0) + 1
      await setImmediate()
      signal.throwIfAborted()
      yield progress(false)
    }
  }
  yield progress(true)
}

/** The longest part of a text that stands in a line as it is, however often it is escaped; empty if there is none. */
export function plainPart(text: string): string {
  const parts = text.match(/[0-9a-z ]+/gi) ?? []
  return parts.reduce((longest, part) => (part.length > longest.length ? part : longest), '')
}

/** The lines that contain a plain part, in upper or lower case: only these are parsed. */
function* linesWith(
  part: string,
  { bytes, lines }: { readonly bytes: Buffer; readonly lines: readonly (readonly [number, number])[] },
) {
  const text = bytes.toString('latin1')
  const pattern = new RegExp(part, 'gi')
  const findFrom = (place: number) => {
    pattern.lastIndex = place
    return pattern.exec(text)?.index ?? Number.POSITIVE_INFINITY
  }
  let found = findFrom(0)
  for (const line of lines) {
    if (found < line[0]) found = findFrom(line[0])
    if (found < line[1]) yield line
  }
}

/** The row whose line starts at an offset; `null` for a repeated line, which has none. */
function rowAt(table: RowTable, offset: number): number | null {
  let [low, high] = [0, table.size]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (table.place(middle).offset < offset) low = middle + 1
    else high = middle
  }
  return low < table.size && table.place(low).offset === offset ? low : null
}
