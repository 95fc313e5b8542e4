import type { HttpResponse } from './fast-path/response.ts'

/** The calls in flight of a server. A call ends when the last byte of its answer is handed to the operating system. */
export class Calls {
  readonly #running = new ActiveSet<HttpResponse>()
  readonly #ending = new AbortController()
  #changed = Promise.withResolvers<void>()

  get count(): number {
    return this.#running.size
  }

  /** Whether further calls are rejected. */
  get draining(): boolean {
    return this.#ending.signal.aborted
  }

  /** Counts a call until its response is written or its client is gone. */
  begin(response: HttpResponse): void {
    const leave = this.#running.enter(response)
    if (response.destroyed) leave()
    else
      response.once('close', () => {
        leave()
        this.#changed.resolve()
      })
  }

  /** Returns a signal that aborts when the client of a call goes away, or when the server drains. */
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

  /** Returns a signal that aborts when the client of a call goes away before it is answered. */
  goneSignal(response: HttpResponse): AbortSignal {
    const abort = new AbortController()
    const stop = () => abort.abort()
    response.once('close', stop)
    if (response.destroyed) stop()
    return abort.signal
  }

  /** Resolves with the number of unanswered calls: once all are answered, which is 0, or once `signal` is aborted. */
  async drain(signal: AbortSignal | undefined): Promise<number> {
    this.#ending.abort()
    // Clients with keep-alive connections then connect to another server.
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

/** An item and its place in the array. */
interface ActiveItem<T> {
  readonly item: T
  index: number
}

/**
 * The items that are active now, in no order, for many short-lived items.
 *
 * A `Set` would cost more than the rest of a call: as deletions fill it, V8 replaces its table, and an old table keeps
 * its items. Once one of them is in the old generation, the later tables and their items are promoted too, and
 * collecting them is late and expensive.
 */
export class ActiveSet<T> implements Iterable<T> {
  readonly #places: ActiveItem<T>[] = []

  get size(): number {
    return this.#places.length
  }

  /** Adds an item. The returned function removes it, and has to be called once. */
  enter(item: T): () => void {
    const place = { item, index: this.#places.length }
    this.#places.push(place)
    return () => this.#leave(place)
  }

  *[Symbol.iterator](): Iterator<T> {
    for (const { item } of this.#places) yield item
  }

  /** Moves the last item to the place that becomes free. */
  #leave(place: ActiveItem<T>): void {
    const last = this.#places.pop()
    if (!last || last === place) return
    this.#places[place.index] = last
    last.index = place.index
  }
}
