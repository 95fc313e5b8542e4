import { WireError } from '@episodic/protocol'
import type { ClientChannel } from '../dispatch/client-channel.ts'
import type { DispatchOptions } from '../dispatch/dispatcher.ts'
import type { Caller } from '../host/caller.ts'
import type { SessionRef } from '../host/host.ts'
import { EventStream } from './event-stream.ts'
import type { Streams } from './event-streams.ts'
import type { Calls } from './in-flight-calls.ts'
import type { HttpRequest, HttpResponse } from './message.ts'
import { takesEvents } from './post-rules.ts'

/** What a response is made of. */
export interface Talked {
  readonly request: HttpRequest
  readonly response: HttpResponse
  readonly caller: Caller
  readonly method: unknown
  /** Whether the request is of the era in which a client that hangs up has called off what it asked. */
  readonly modern: boolean
  /** The session of an agent's address; `null` if the request has none. */
  readonly session: SessionRef | null
  readonly cors: () => Readonly<Record<string, string>> | undefined
}

/**
 * What an HTTP server can do for a request besides answering it. Nothing of it is made before it is asked for: nearly every
 * request is answered with one text.
 */
export class HttpExchange implements DispatchOptions {
  readonly #talked: Talked
  readonly #calls: Calls
  readonly #streams: Streams
  #stream: EventStream | null = null

  constructor(talked: Talked, calls: Calls, streams: Streams) {
    this.#talked = talked
    this.#calls = calls
    this.#streams = streams
  }

  /** The stream that the answer belongs to, because something was said before it; `null` where nothing was. */
  get begun(): EventStream | null {
    return this.#stream?.begun ? this.#stream : null
  }

  get headers(): HttpRequest['headers'] {
    return this.#talked.request.headers
  }

  get modern(): boolean {
    return this.#talked.modern
  }

  get session(): SessionRef | undefined {
    return this.#talked.session ?? undefined
  }

  get signal(): AbortSignal | undefined {
    const { caller, method, response } = this.#talked
    return caller.endpoint === 'trainer' && method !== 'tools/call' ? this.#calls.waitSignal(response) : undefined
  }

  get gone(): (() => AbortSignal) | undefined {
    const { modern, response } = this.#talked
    return modern ? () => this.#calls.goneSignal(response) : undefined
  }

  get channel(): (() => ClientChannel) | undefined {
    const { caller, modern, method } = this.#talked
    if (caller.endpoint === 'trainer') return undefined
    if (modern) return method === 'subscriptions/listen' && this.#takesEvents ? this.#listen : undefined
    return caller.address.token === null ? undefined : () => this.#streams.channelFor(caller)
  }

  get say(): ((text: string) => void) | undefined {
    return this.#takesEvents ? (text) => void this.#events().say(text) : undefined
  }

  readonly #listen = (): ClientChannel => {
    if (this.#streams.full) throw tooManyStreams()
    return this.#streams.listen(this.#events(), this.#talked.response)
  }

  get #takesEvents(): boolean {
    return takesEvents(this.#talked.request)
  }

  #events(): EventStream {
    this.#stream ??= new EventStream(this.#talked.response, this.#talked.cors)
    return this.#stream
  }
}

/** What a client hears that would be one listener too many. */
export function tooManyStreams(): WireError {
  return new WireError('capacity', 'As many clients listen here as may. Try again later.')
}
