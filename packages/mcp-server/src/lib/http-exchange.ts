import type { ServerResponse } from 'node:http'

/**
 * The answer to one posted request: JSON, unless something has to be told before the result; then a stream of events
 * that ends with it.
 */
export class Exchange {
  readonly #response: ServerResponse

  constructor(response: ServerResponse) {
    this.#response = response
  }

  /** Tells something on the way. */
  tell(message: unknown): void {
    if (!this.#response.headersSent)
      this.#response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' })
    if (this.#response.writable) this.#response.write(eventOf(message))
  }

  /** Says the last word. */
  answer(message: unknown): void {
    if (this.#response.headersSent) this.#response.end(eventOf(message))
    else this.#response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(message))
  }
}

function eventOf(message: unknown): string {
  return `event: message\ndata: ${JSON.stringify(message)}\n\n`
}
