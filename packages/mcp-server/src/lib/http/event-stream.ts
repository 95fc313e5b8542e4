import { drained } from '../transport/drain.ts'
import type { HttpResponse } from './fast-path/response.ts'

/** A response as an event stream: each message is one event, in the format of Streamable HTTP. */
export class EventStream {
  readonly #response: HttpResponse
  readonly #headers: () => Readonly<Record<string, string>> | undefined

  constructor(response: HttpResponse, headers: () => Readonly<Record<string, string>> | undefined = () => undefined) {
    this.#response = response
    this.#headers = headers
  }

  /** Whether the response has become a stream, so that no other answer can be sent. */
  get begun(): boolean {
    return this.#response.headersSent
  }

  begin(): void {
    this.#response
      .writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache', ...this.#headers() })
      .flushHeaders()
  }

  /** Sends a message. Resolves once there is room for the next one, or the client is gone. */
  async say(text: string): Promise<void> {
    if (!this.begun) this.begin()
    if (this.#response.writable && !this.#response.write(eventOf(text))) await drained(this.#response)
  }

  /** Sends a comment if the stream is idle, so that proxies do not close it. */
  keepAlive(): void {
    if (this.begun && this.#response.writable && this.#response.writableLength === 0) this.#response.write(':\n\n')
  }

  end(text: string | null = null): void {
    this.#response.end(text === null ? undefined : eventOf(text))
  }
}

function eventOf(text: string): string {
  return `event: message\ndata: ${text}\n\n`
}
