import { WireError } from '@episodic/protocol'
import type { ClientChannel } from '../dispatch/client-channel.ts'
import type { DispatchOptions } from '../dispatch/dispatcher.ts'
import type { Caller } from '../host/access/caller.ts'
import type { SessionRef } from '../host/host.ts'
import { EventStream } from './event-stream.ts'
import type { Streams } from './event-streams.ts'
import type { HttpRequest } from './fast-path/request.ts'
import type { HttpResponse } from './fast-path/response.ts'
import type { Calls } from './in-flight-calls.ts'
import { takesEvents } from './post-rules.ts'

/** One request, and what is known about it. */
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

/**
 * What an HTTP server offers a request besides its answer: a signal, a channel, an event stream. Each is created on
 * first use, because nearly every request needs none.
 */
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

/** The error for a stream that exceeds the limit. */
export function tooManyStreams(): WireError {
  return new WireError('capacity', 'This server has as many event streams as it may have. Try again later.')
}
