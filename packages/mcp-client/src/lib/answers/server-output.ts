import type { JsonObject } from '@episodic/protocol'
import { readServerLine } from './server-answer.ts'

const MOST_LINES = 100_000

export class ServerOutput {
  /** The lines of a message that is written over several, until it ends. */
  #lines: string[] = []

  /**
   * Returns the messages that a line ends, see {@link readServerLine}. Some servers write a message over several lines,
   * as JSON is printed for people: from a bracket at the beginning of a line to one at the beginning of another.
   */
  read(line: string): JsonObject[] {
    const bare = line.replace(/^\ufeff/, '').trimEnd()
    if (this.#lines.length > 0) {
      if (/^[ \t}\]]/.test(bare) && this.#lines.length < MOST_LINES) {
        this.#lines.push(bare)
        return /^[}\]]/.test(bare) ? readServerLine(this.#taken()) : []
      }
      this.#taken()
    }
    if (bare !== '{' && bare !== '[') return readServerLine(bare)
    this.#lines = [bare]
    return []
  }

  #taken(): string {
    const text = this.#lines.join('\n')
    this.#lines = []
    return text
  }
}
