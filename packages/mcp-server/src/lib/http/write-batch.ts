import type { HttpResponse } from './message.ts'

/**
 * Writes the answers of one turn of the event loop together. Waking a client that waits costs the system more than a
 * write does, and a client with many calls in flight is woken once for all of them.
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
          // ASCII reads the same in both, and is written as it is in one of them.
          .end(text, bytes === text.length ? 'latin1' : 'utf8')
      } catch {
        // One that cannot be written any more takes its connection with it, and not the other answers of the turn.
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
