import { readServerLine } from '@episodic/protocol/internal'
import type { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'

/** Most bytes of one line. */
const LONGEST = 16 * 1024 ** 2
const NEWLINE = 0x0a

/** Splits the output of a server into messages. Lines that are none are skipped. */
class LineBuffer {
  #held: Buffer[] = []
  #bytes = 0
  #messages: object[] = []

  append(chunk: Buffer): void {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#held.push(chunk.subarray(start, end))
      this.#messages.push(...readServerLine(Buffer.concat(this.#held).toString()))
      this.#held = []
      this.#bytes = 0
      start = end + 1
    }
    this.#bytes += chunk.length - start
    if (this.#bytes > LONGEST) throw new Error(`The server wrote a line of more than ${LONGEST} bytes.`)
    if (start < chunk.length) this.#held.push(chunk.subarray(start))
  }

  readMessage(): JSONRPCMessage | null {
    return (this.#messages.shift() as JSONRPCMessage | undefined) ?? null
  }

  clear(): void {
    this.#held = []
    this.#bytes = 0
    this.#messages = []
  }
}

/**
 * Lets a transport read what servers write a little differently. Its own reader drops such a line, and the request that
 * it answers waits until its timeout.
 */
export function readTolerantly(transport: StdioClientTransport): void {
  Object.assign(transport, { _readBuffer: new LineBuffer() })
}
