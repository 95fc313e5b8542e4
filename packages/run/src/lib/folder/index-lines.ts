import { createHash, hash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { rowOf } from '@episodic/report/rows/row'
import { createRowBatch } from '@episodic/report/rows/row-batch'
import { sealedShape } from '@episodic/report/rows/sealed-shape'
import { jsonOf } from '../base/json.ts'
import { lineBlocks } from './line-blocks.ts'

export interface IndexedPart {
  readonly file: string
  /** Where a line starts, in bytes. */
  readonly from: number
  readonly to: number
  /** Whose figures the rows have, if the environment has several seats. */
  readonly seat: string | undefined
}

export const ROWS_FORMAT = 3

export interface IndexedRows {
  /** See `RowBatch`; they are about all else that is said here, the seat and the format. */
  readonly rows: Uint8Array
  /** Where the first line starts, and where the next one after the last starts, in bytes. */
  readonly from: number
  readonly to: number
  /** See {@link tailHash}, at `to`. */
  readonly tail: string
  /** Lines that are no sealed episodes, and have no row. */
  readonly unreadable: number
}

/** Lines of a batch: few enough to be shown soon, and many enough to be passed on cheaply. */
const BATCH_LINES = 4_000

export async function indexLines(
  { file: path, from, to, seat }: IndexedPart,
  onRows: (rows: IndexedRows) => void,
): Promise<void> {
  await using file = await open(path)
  let batch = createRowBatch()
  let unreadable = 0
  let [start, end] = [from, from]
  const handOver = async () => {
    const about = { from: start, to: end, tail: await tailHash(file, end), unreadable }
    onRows({ ...about, rows: batch.pack({ ...about, seat: seat ?? null, format: ROWS_FORMAT }) })
    batch = createRowBatch()
    unreadable = 0
    start = end
  }
  for await (const { offset, bytes, lines } of lineBlocks(file, from, to)) {
    for (const [first, last] of lines) {
      const line = bytes.subarray(first, last)
      const record = sealedShape(jsonOf(line.toString('utf8')))
      if (record) {
        const place = { offset: offset + first, length: line.length, content: contentOfBytes(line) }
        batch.add(rowOf(record, seat), place)
      } else unreadable += 1
      end = offset + last + 1
    }
    if (batch.size >= BATCH_LINES) await handOver()
  }
  if (end > start) await handOver()
}

function contentOfBytes(line: Buffer): number {
  const digest = hash('sha256', line, 'buffer')
  return digest.readUIntBE(0, 6) * 16 + ((digest[6] as number) >> 4)
}

const TAIL_BYTES = 4_096

/**
 * Returns the SHA-256 of the last 4 KiB before a place in a file: where it differs, the lines before may be other ones.
 */
export async function tailHash(file: FileHandle, end: number): Promise<string> {
  const start = Math.max(0, end - TAIL_BYTES)
  const { buffer, bytesRead } = await file.read(Buffer.alloc(end - start), 0, end - start, start)
  return createHash('sha256').update(buffer.subarray(0, bytesRead)).digest('hex')
}
