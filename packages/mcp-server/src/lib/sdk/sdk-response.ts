import type { ServerResponse } from 'node:http'
import { EventStream } from '../http/event-stream.ts'

/**
 * The answer to one posted request: JSON, unless something has to be told before the result; then a stream of events
 * that ends with it.
 */
export class Exchange {
  readonly #response: ServerResponse
  readonly #stream: EventStream

  constructor(response: ServerResponse) {
    this.#response = response
    this.#stream = new EventStream(response)
  }

  /** Tells something on the way. */
  tell(message: unknown): void {
    void this.#stream.say(JSON.stringify(message))
  }

  /** Says the last word. */
  answer(message: unknown): void {
    const text = JSON.stringify(message)
    if (this.#stream.begun) this.#stream.end(text)
    else this.#response.writeHead(200, { 'Content-Type': 'application/json' }).end(text)
  }
}
