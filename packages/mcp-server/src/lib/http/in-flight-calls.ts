import { WireError } from '@episodic/protocol'
import type { ClientChannel } from '../dispatch/client-channel.ts'
import type { DispatchOptions } from '../dispatch/dispatcher.ts'
import type { AgentCaller, Caller } from '../host/access/caller.ts'
import type { SessionRef } from '../host/host.ts'
import { EventStream, type Streams } from './event-streams.ts'
import type { HttpRequest } from './fast-path/connection.ts'
import type { HttpResponse } from './fast-path/response.ts'
import { takesEvents } from './post-rules.ts'

/** The calls in flight of a server. A call ends when the last byte of its answer is handed to the operating system. */
export class Calls {
  readonly #running = new ActiveSet<HttpResponse>()
  readonly #ending = new AbortController()
  #changed = Promise.withResolvers<void>()

  get count(): number {
    return this.#running.size
  }

  get draining(): boolean {
    return this.#ending.signal.aborted
  }

  begin(response: HttpResponse): void {
    const leave = this.#running.enter(response)
    if (response.destroyed) leave()
    else
      response.on('close', () => {
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

export interface ExchangeInput {
  readonly request: HttpRequest
  readonly response: HttpResponse
  readonly caller: Caller
  readonly method: string
  /** Whether the request is of the stateless protocol version, in which a client cancels a request by hanging up. */
  readonly modern: boolean
  /** The session of an agent's address; `null` if the request has none. */
  readonly session: SessionRef | null
  readonly cors: () => Readonly<Record<string, string>> | undefined
}

/** What an HTTP server offers a request besides its answer, created on first use: nearly every one needs none. */
export class HttpExchange implements DispatchOptions {
  readonly headers: HttpRequest['headers']
  readonly modern: boolean
  readonly session: SessionRef | undefined
  /** The stream of the response; `null` while no message is sent before the answer. */
  stream: EventStream | null = null
  readonly #input: ExchangeInput
  readonly #calls: Calls
  readonly #streams: Streams
  #signal: AbortSignal | undefined

  constructor(input: ExchangeInput, calls: Calls, streams: Streams) {
    const { request, modern, session } = input
    this.headers = request.headers
    this.modern = modern
    this.session = session ?? undefined
    this.#input = input
    this.#calls = calls
    this.#streams = streams
  }

  get signal(): AbortSignal {
    this.#signal ??= this.#calls.waitSignal(this.#input.response)
    return this.#signal
  }

  get gone(): (() => AbortSignal) | undefined {
    const { modern, response } = this.#input
    return modern ? () => this.#calls.goneSignal(response) : undefined
  }

  get channel(): (() => ClientChannel) | undefined {
    const { caller, modern, method } = this.#input
    if (caller.endpoint === 'trainer') return undefined
    if (modern) return method === 'subscriptions/listen' && this.#takesEvents ? this.#listen : undefined
    return caller.address.token === null ? undefined : () => this.#streams.channelFor(caller)
  }

  get say(): ((text: string) => void) | undefined {
    return this.#takesEvents ? (text) => void this.#events().say(text) : undefined
  }

  readonly #listen = (): ClientChannel => {
    if (this.#streams.full) throw tooManyStreams()
    return this.#streams.listen(this.#events(), this.#input.response)
  }

  get #takesEvents(): boolean {
    return takesEvents(this.#input.request)
  }

  #events(): EventStream {
    this.stream ??= new EventStream(this.#input.response, this.#input.cors)
    return this.stream
  }
}

export function tooManyStreams(): WireError {
  return new WireError('capacity', 'This server has as many event streams as it may have. Try again later.')
}

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

  #leave(place: ActiveItem<T>): void {
    const last = this.#places.pop()
    if (!last || last === place) return
    this.#places[place.index] = last
    last.index = place.index
  }
}

/**
 * Counts the calls in flight of each caller of the agent endpoint, for games: their answers may be held for minutes
 * until a seat may act, and each holds a connection. A caller is a principal, or without one a network address: session
 * URLs need no token, and a client can have many.
 */
export class HeldCalls {
  readonly #most: number
  readonly #counts = new Map<string, number>()

  constructor(most: number) {
    this.#most = most
  }

  /** Counts a call until its response is closed. Returns the caller, whose call is not held if it has too many. */
  enter(caller: AgentCaller, address: string | undefined, response: HttpResponse): AgentCaller {
    const key = caller.principal === null ? `from ${address}` : `principal ${caller.principal}`
    const count = this.#counts.get(key) ?? 0
    if (count >= this.#most) return { ...caller, address: { ...caller.address, hold: 0 } }
    if (response.destroyed) return caller
    this.#counts.set(key, count + 1)
    response.once('close', () => {
      const left = (this.#counts.get(key) as number) - 1
      if (left > 0) this.#counts.set(key, left)
      else this.#counts.delete(key)
    })
    return caller
  }
}
