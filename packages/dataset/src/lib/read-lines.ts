import { createReadStream } from 'node:fs'
import { encodingOf } from '@episodic/protocol/internal'
import { DatasetError } from './dataset-error.ts'
import type { JsonLine } from './json-line.ts'

export interface ReadLinesOptions {
  readonly signal?: AbortSignal | undefined
  /** The longest line, in bytes. Default: 64 MiB. */
  readonly maxLineBytes?: number
}

const NEWLINE = 0x0a

/**
 * Yields the lines of a file, with one line and one block in memory. Blank lines are yielded too; a byte order mark is
 * dropped. A last line without a newline is marked `torn`, although it may be complete.
 *
 * @throws DatasetError `file-failed`, also for a file that is compressed or UTF-16, or `line-too-long`. After an abort:
 *   the signal's reason.
 */
export async function* readLines(
  path: string,
  { signal, maxLineBytes = 64 * 1024 * 1024 }: ReadLinesOptions = {},
): AsyncGenerator<JsonLine, void, undefined> {
  let line = 1
  let held: Uint8Array[] = []
  let heldBytes = 0
  const hold = (part: Uint8Array): void => {
    heldBytes += part.length
    if (heldBytes > maxLineBytes)
      throw new DatasetError('line-too-long', `${path}: line ${line} is longer than ${maxLineBytes} bytes.`)
    held.push(part)
  }
  const take = (torn: boolean): JsonLine => {
    // One decoder for each line: a truncated character must not affect the next line.
    const bytes = Buffer.concat(held)
    const text = new TextDecoder().decode(bytes)
    held = []
    heldBytes = 0
    const garbled = text.includes('\ufffd') && encodingOf(bytes) !== 'UTF-8'
    return { line: line++, text, torn, ...(garbled && { garbled }) }
  }
  for await (const block of readBlocks(path, signal)) {
    if (line === 1 && heldBytes === 0) assertText(path, block)
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

/** The first bytes of files that are often given in place of text, and what to do about them. */
const OTHER_FILES: readonly (readonly [start: string, what: string])[] = [
  ['\x1f\x8b', 'is compressed with gzip. Decompress it: gunzip'],
  ['\x28\xb5\x2f\xfd', 'is compressed with Zstandard. Decompress it: unzstd'],
  ['PK\x03\x04', 'is a ZIP archive. Unpack it: unzip'],
  ['BZh', 'is compressed with bzip2. Decompress it: bunzip2'],
  ['\xfd7zXZ', 'is compressed with xz. Decompress it: unxz'],
  ['version ', 'is a pointer of Git LFS. Fetch the file itself: git lfs pull'],
  ['<!DOCTYP', 'is a page of HTML. Fetch the file itself: its address may need a login'],
  ['<!doctyp', 'is a page of HTML. Fetch the file itself: its address may need a login'],
  ['PAR1', 'is a Parquet file. Write it as JSON lines'],
]

function assertText(path: string, block: Buffer): void {
  const start = block.toString('latin1', 0, 8)
  const found = OTHER_FILES.find(([bytes]) => start.startsWith(bytes))
  const isUtf16 = encodingOf(block.subarray(0, 2)) === 'UTF-16'
  const what = found?.[1] ?? (isUtf16 ? 'is UTF-16. Write it as UTF-8: iconv -f UTF-16 -t UTF-8' : undefined)
  if (what !== undefined) throw new DatasetError('file-failed', `${path} ${what}.`)
}

async function* readBlocks(path: string, signal: AbortSignal | undefined): AsyncGenerator<Buffer, void, undefined> {
  try {
    yield* createReadStream(path, signal ? { signal } : {})
  } catch (cause) {
    signal?.throwIfAborted()
    throw new DatasetError('file-failed', `Cannot read ${path}: ${(cause as Error).message}.`, { cause })
  }
}
