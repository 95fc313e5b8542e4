import { drained } from '../transport/drain.ts'
import type { HttpResponse } from './message.ts'

/** A response that goes on: each message is an event of its own, in the words of Streamable HTTP. */
export class EventStream {
  readonly #response: HttpResponse
  readonly #headers: () => Readonly<Record<string, string>> | undefined

  constructor(response: HttpResponse, headers: () => Readonly<Record<string, string>> | undefined = () => undefined) {
    this.#response = response
    this.#headers = headers
  }

  /** Whether the response is a stream by now, and no other answer any more. */
  get begun(): boolean {
    return this.#response.headersSent
  }

  /** Begins it, though there is nothing to tell yet. */
  begin(): void {
    this.#response
      .writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache', ...this.#headers() })
      .flushHeaders()
  }

  /** Sends a message. Resolves once there is room for the next, or nobody to send it to. */
  async say(text: string): Promise<void> {
    if (!this.begun) this.begin()
    if (this.#response.writable && !this.#response.write(eventOf(text))) await drained(this.#response)
  }

  /** Shows whoever stands in between that it is still in use. */
  keepAlive(): void {
    if (this.begun && this.#response.writable && this.#response.writableLength === 0) this.#response.write(':\n\n')
  }

  /** Sends a last message, where there is one, and ends it. */
  end(text: string | null = null): void {
    this.#response.end(text === null ? undefined : eventOf(text))
  }
}

function eventOf(text: string): string {
  return `event: message\ndata: ${text}\n\n`
}
