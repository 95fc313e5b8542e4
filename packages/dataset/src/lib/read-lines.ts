import { createReadStream } from 'node:fs'
import { DatasetError } from './dataset-error.ts'
import type { Line } from './line.ts'

export interface ReadLinesOptions {
  readonly signal?: AbortSignal | undefined
  /** The longest line, in bytes. Default: 64 MiB. */
  readonly maxLineBytes?: number
}

const NEWLINE = 0x0a

/**
 * Yields the lines of a file, with one line and one block in memory. Blank lines are yielded too; a byte order mark is dropped.
 * A last line without a newline is marked `torn`, although it may be complete.
 *
 * @throws DatasetError `file-failed`, or `line-too-long`. After an abort: the signal's reason.
 */
export async function* readLines(
  path: string,
  { signal, maxLineBytes = 64 * 1024 * 1024 }: ReadLinesOptions = {},
): AsyncGenerator<Line, void, undefined> {
  let line = 1
  let held: Uint8Array[] = []
  let heldBytes = 0
  const hold = (part: Uint8Array): void => {
    heldBytes += part.length
    if (heldBytes > maxLineBytes)
      throw new DatasetError('line-too-long', `${path}: line ${line} is longer than ${maxLineBytes} bytes.`)
    held.push(part)
  }
  const take = (torn: boolean): Line => {
    // One decoder for each line: a truncated character must not affect the next line.
    const text = new TextDecoder().decode(Buffer.concat(held))
    held = []
    heldBytes = 0
    return { line: line++, text, torn }
  }
  for await (const block of readBlocks(path, signal)) {
    let start = 0
    for (let end = block.indexOf(NEWLINE); end !== -1; end = block.indexOf(NEWLINE, start)) {
      hold(block.subarray(start, end))
      signal?.throwIfAborted()
      yield take(false)
      start = end + 1
    }
    hold(block.subarray(start))
  }
  signal?.throwIfAborted()
  if (heldBytes > 0) yield take(true)
}

async function* readBlocks(path: string, signal: AbortSignal | undefined): AsyncGenerator<Buffer, void, undefined> {
  try {
    yield* createReadStream(path, signal ? { signal } : {})
  } catch (cause) {
    signal?.throwIfAborted()
    throw new DatasetError('file-failed', `Cannot read ${path}: ${(cause as Error).message}.`, { cause })
  }
}
