import { ClientChannel } from '../dispatch/client-channel.ts'
import type { AgentCaller } from '../host/access/caller.ts'
import { drained } from '../transport/drain.ts'
import type { HttpResponse } from './fast-path/response.ts'

/** Clients without an open stream that are remembered. One more evicts the oldest. */
const AWAITED = 1_000
/** Streams that may be open for one session URL, whose clients cannot be distinguished. */
const STREAMS_PER_URL = 16
/** Seconds between two keep-alive comments on an idle stream. */
const SIGN_OF_LIFE = 15

interface Client {
  readonly channel: ClientChannel
  readonly streams: Set<EventStream>
}

export type Streams = ReturnType<typeof createStreams>

/** The event streams of an HTTP server: opened with GET, or as the response to `subscriptions/listen`. */
export function createStreams(most: number) {
  const clients = new Map<string, Client>()
  const openStreams = new Map<EventStream, () => Promise<void>>()
  let ended = false
  const signs: NodeJS.Timeout = setInterval(() => {
    for (const stream of openStreams.keys()) stream.keepAlive()
  }, SIGN_OF_LIFE * 1_000).unref()
  return {
    get full(): boolean {
      return ended || openStreams.size >= most
    },
    hasEnough(caller: AgentCaller): boolean {
      const open = clients.get(toClientKey(caller))?.streams.size ?? 0
      return open >= (caller.address.by === 'capability' ? STREAMS_PER_URL : 1)
    },
    open(caller: AgentCaller, stream: EventStream, response: HttpResponse): void {
      const { streams, channel } = clientOf(caller)
      stream.begin()
      streams.add(stream)
      add(stream, response, async () => stream.end())
      onceClosed(response, () => {
        streams.delete(stream)
        forgetIdle(toClientKey(caller), channel)
      })
    },
    channelFor(caller: AgentCaller): ClientChannel {
      return clientOf(caller).channel
    },
    listen(stream: EventStream, response: HttpResponse): ClientChannel {
      const channel = new ClientChannel({ say: (text) => stream.say(text) })
      add(stream, response, async () => {
        await channel.shutDown()
        stream.end()
      })
      onceClosed(response, () => channel.end())
      return channel
    },
    forget(caller: AgentCaller): void {
      const client = clients.get(toClientKey(caller))
      clients.delete(toClientKey(caller))
      client?.channel.end()
      for (const stream of client?.streams ?? []) stream.end()
    },
    /** Ends all streams, and notifies clients that listen. Does not wait for clients that do not read. */
    end(): void {
      ended = true
      clearInterval(signs)
      for (const leave of openStreams.values()) void leave()
      for (const { channel } of clients.values()) channel.end()
    },
  }

  function add(stream: EventStream, response: HttpResponse, leave: () => Promise<void>): void {
    openStreams.set(stream, leave)
    onceClosed(response, () => openStreams.delete(stream))
  }

  function clientOf(caller: AgentCaller): Client {
    const key = toClientKey(caller)
    const known = clients.get(key)
    if (known) return known
    const streams = new Set<EventStream>()
    const channel: ClientChannel = new ClientChannel({
      // Without an open stream the message is dropped.
      say: async (text) => void (await Promise.all([...streams].map((stream) => stream.say(text)))),
      onIdle: () => forgetIdle(key, channel),
    })
    const client = { channel, streams }
    makeRoom()
    clients.set(key, client)
    return client
  }

  function forgetIdle(key: string, channel: ClientChannel): void {
    const client = clients.get(key)
    if (client?.channel === channel && channel.idle && client.streams.size === 0) clients.delete(key)
  }

  function makeRoom(): void {
    if (clients.size < AWAITED + most) return
    for (const [key, { channel, streams }] of clients) {
      if (streams.size > 0) continue
      clients.delete(key)
      channel.end()
      return
    }
  }
}

function toClientKey({ principal, address }: AgentCaller): string {
  return `${address.token} ${principal ?? ''}`
}

/** Calls `run` when a response is closed, or in a later turn if it already is. */
function onceClosed(response: HttpResponse, run: () => void): void {
  if (response.destroyed) setImmediate(run)
  else response.once('close', run)
}

/** A response as an event stream: each message is one event, in the format of Streamable HTTP. */
export class EventStream {
  readonly #response: HttpResponse
  readonly #headers: () => Readonly<Record<string, string>> | undefined

  constructor(response: HttpResponse, headers: () => Readonly<Record<string, string>> | undefined = () => undefined) {
    this.#response = response
    this.#headers = headers
  }

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
