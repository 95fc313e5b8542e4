import type { FileHandle } from 'node:fs/promises'
import { HarnessError } from '../base/harness-error.ts'

const BLOCK_BYTES = 4 * 1024 ** 2
/** The longest line, as for every reader of lines. */
const MOST_BYTES = 64 * 1024 ** 2
const NEWLINE = 0x0a

/**
 * Yields the whole lines of a part of a file, in blocks of about 4 MiB. A last line without a line break is left out.
 *
 * @param from - where a line starts.
 * @param to - in bytes, may be within a line.
 * @throws HarnessError `run-invalid` for a line of more than 64 MiB.
 */
export async function* lineBlocks(file: FileHandle, from: number, to: number) {
  let rest = Buffer.alloc(0)
  for (let at = from; at < to; ) {
    const block = Buffer.allocUnsafe(rest.length + Math.min(BLOCK_BYTES, to - at))
    rest.copy(block)
    const { bytesRead } = await file.read(block, rest.length, block.length - rest.length, at)
    if (bytesRead === 0) return
    const bytes = block.subarray(0, rest.length + bytesRead)
    const offset = at - rest.length
    /** Where each line starts and ends in `bytes`, without its line break. */
    const lines: [start: number, end: number][] = []
    let start = 0
    // What was left over holds no line break.
    for (let end = bytes.indexOf(NEWLINE, rest.length); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      lines.push([start, end])
      start = end + 1
    }
    at += bytesRead
    rest = bytes.subarray(start)
    if (rest.length > MOST_BYTES)
      throw new HarnessError('run-invalid', `The line at byte ${offset + start} is longer than ${MOST_BYTES} bytes.`)
    if (lines.length > 0) yield { offset, bytes, lines }
  }
}
