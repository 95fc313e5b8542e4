import { ActiveSet } from '../transport/active-set.ts'
import type { HttpResponse } from './message.ts'

/** The calls of a socket that are being answered: until the last byte of the answer is handed to the system. */
export class Calls {
  readonly #running = new ActiveSet<HttpResponse>()
  readonly #ending = new AbortController()
  #changed = Promise.withResolvers<void>()

  get count(): number {
    return this.#running.size
  }

  /** Whether no further calls are taken. */
  get draining(): boolean {
    return this.#ending.signal.aborted
  }

  /** Counts a call until its response is written or its client is gone. */
  begin(response: HttpResponse): void {
    if (response.destroyed) return
    const leave = this.#running.enter(response)
    response.once('close', () => {
      leave()
      this.#changed.resolve()
    })
  }

  /** Aborts when the client of a call goes away, and when those who only wait should stop. */
  waitSignal(response: HttpResponse): AbortSignal {
    const abort = new AbortController()
    const stop = () => abort.abort()
    this.#ending.signal.addEventListener('abort', stop)
    response.once('close', () => {
      this.#ending.signal.removeEventListener('abort', stop)
      stop()
    })
    if (this.draining || response.destroyed) stop()
    return abort.signal
  }

  /** Aborts when the client of a call goes away before it is answered. */
  goneSignal(response: HttpResponse): AbortSignal {
    const abort = new AbortController()
    const stop = () => abort.abort()
    response.once('close', stop)
    if (response.destroyed) stop()
    return abort.signal
  }

  /** Takes no more, waits until all are answered or `signal` is aborted, and says how many were not. */
  async drain(signal: AbortSignal | undefined): Promise<number> {
    this.#ending.abort()
    // Clients that keep their connections go and look for another server.
    for (const response of this.#running) if (!response.headersSent) response.setHeader('Connection', 'close')
    const stop = () => this.#changed.resolve()
    signal?.addEventListener('abort', stop, { once: true })
    while (this.#running.size > 0 && !signal?.aborted) {
      this.#changed = Promise.withResolvers<void>()
      await this.#changed.promise
    }
    signal?.removeEventListener('abort', stop)
    return this.#running.size
  }
}
