import type { HttpResponse } from './fast-path/response.ts'

/**
 * Writes the answers of one turn of the event loop together. Waking a waiting client costs more than a write, and a
 * client with many calls in flight then wakes once for all of them.
 */
export class Answers {
  #waiting: (() => void)[] = []

  /** Answers with JSON. */
  json(response: HttpResponse, status: number, text: string, headers?: Readonly<Record<string, string>>): void {
    const bytes = Buffer.byteLength(text)
    const write = () => {
      try {
        response
          .writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': bytes, ...headers })
          // ASCII is the same in both encodings, and Node writes latin1 without converting it.
          .end(text, bytes === text.length ? 'latin1' : 'utf8')
      } catch {
        // An answer that cannot be written ends its own connection, and not the other answers of the turn.
        response.destroy()
      }
    }
    if (this.#waiting.push(write) === 1) setImmediate(() => this.#flush())
  }

  #flush(): void {
    const writes = this.#waiting
    this.#waiting = []
    for (const write of writes) write()
  }
}
