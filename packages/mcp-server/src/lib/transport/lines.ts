import { WireError } from '@episodic/protocol'
import { GatheredBytes } from './byte-buffer.ts'
import type { ReceivedMessage } from './message-pipe.ts'

/**
 * Splits a byte stream into lines, in constant memory.
 *
 * A line longer than `limit` bytes is skipped to its end and reported with one error, so that the stream stays in step
 * with its writer. Blank lines, and bytes after the last line break, are not messages.
 */
export class LineSplitter {
  readonly #limit: number
  readonly #held = new GatheredBytes()
  #length = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Yields the lines that end in this chunk. Has to be read to its end before the next chunk is split. */
  *split(chunk: Buffer): Generator<ReceivedMessage> {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.#add(chunk.subarray(start, end))
      start = end + 1
      const line = this.#take()
      if (line !== '') yield line
    }
    if (start < chunk.length) this.#add(chunk.subarray(start))
  }

  #add(piece: Buffer): void {
    this.#length += piece.length
    if (this.#length > this.#limit) this.#held.clear()
    else this.#held.add(piece)
  }

  #take(): ReceivedMessage {
    const limit = this.#limit
    const tooLong = this.#length > limit
    this.#length = 0
    if (tooLong)
      return new WireError('too-large', `The message is longer than the limit of ${limit} bytes.`, {
        details: { limit },
      })
    try {
      return this.#held.takeText().trim()
    } catch (cause) {
      return new WireError('invalid-request', 'The message is not UTF-8.', { cause })
    }
  }
}

const NEWLINE = 0x0a
