import { open } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import {
  type RowTable,
  type SearchField,
  type SearchHit,
  type SearchProgress,
  sealedShape,
  searchedTexts,
} from '@episodic/report'
import { lineBlocks } from '../../run-folder/line-blocks.ts'
import type { ViewedRun } from '../folder/viewed-run.ts'
import type { Needle } from './needle.ts'

/** What is shown of a text before and after what was found. */
const CONTEXT = 80
/** Milliseconds of searching after which others are answered. */
const TURN = 10

/**
 * Searches the lines of a run, and yields what it finds and how far it is. Only lines that contain the bytes of the
 * needle are parsed.
 *
 * @param fields - where to look. Default: everywhere.
 */
export async function* searchRun(
  run: ViewedRun,
  needle: Needle,
  { fields, signal }: { readonly fields?: ReadonlySet<SearchField> | undefined; readonly signal: AbortSignal },
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
    const inText = needle.inText()
    for await (const block of lineBlocks(file, 0, totalBytes)) {
      const text = block.bytes.toString('latin1')
      let next = 0
      for (;;) {
        needle.inBytes.lastIndex = next
        const found = needle.inBytes.exec(text)
        if (!found) break
        const line = lineAt(block.lines, found.index)
        if (!line) break
        const [start, end] = line
        next = end + 1
        const row = rowAt(table, block.offset + start)
        if (row === null) continue
        for (const hit of hitsIn(block.bytes.subarray(start, end), inText, fields)) {
          hits += 1
          yield { run: id, row, ...hit }
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

function lineAt(lines: readonly (readonly [start: number, end: number])[], byte: number) {
  let [low, high] = [0, lines.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((lines[middle]?.[1] as number) < byte) low = middle + 1
    else high = middle
  }
  return lines[low] ?? null
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

function* hitsIn(
  line: Buffer,
  inText: RegExp,
  fields: ReadonlySet<SearchField> | undefined,
): Generator<Omit<SearchHit, 'run' | 'row'>, void, undefined> {
  const record = sealedShape(JSON.parse(line.toString('utf8')))
  if (!record) return
  const { attempt, try: number } = record
  for (const { field, step, text } of searchedTexts(record)) {
    if (fields && !fields.has(field)) continue
    for (const { 0: match, index } of text.matchAll(inText)) {
      const end = index + match.length
      yield {
        task: record.task.id,
        attempt,
        try: number,
        step,
        field,
        before: text.slice(Math.max(0, index - CONTEXT), index).toWellFormed(),
        match,
        after: text.slice(end, end + CONTEXT).toWellFormed(),
      }
    }
  }
}
