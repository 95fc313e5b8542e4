import { ClientChannel } from '../dispatch/client-channel.ts'
import type { AgentCaller } from '../host/caller.ts'
import type { EventStream } from './event-stream.ts'
import type { HttpResponse } from './message.ts'

/** Clients of which something is kept that have no stream open. The one that came first is forgotten for one more. */
const AWAITED = 1_000
/** Streams that may be open for one session URL, whose clients are not told apart. */
const STREAMS_PER_URL = 16
/** Seconds between two signs of life on a stream that has nothing to tell. */
const SIGN_OF_LIFE = 15

/** What is kept of a client of the era before 2026, whose requests come one by one. */
interface Client {
  readonly channel: ClientChannel
  readonly streams: Set<EventStream>
}

/** The streams of events of an HTTP server: of clients that ask for one, and of those that listen by a request. */
export class Streams {
  readonly #most: number
  readonly #clients = new Map<string, Client>()
  /** All that are open, and what ends each of them. */
  readonly #open = new Map<EventStream, () => Promise<void>>()
  readonly #signs: NodeJS.Timeout
  #ended = false

  constructor(most: number) {
    this.#most = most
    this.#signs = setInterval(() => {
      for (const stream of this.#open.keys()) stream.keepAlive()
    }, SIGN_OF_LIFE * 1_000).unref()
  }

  /** Whether there is no room for one more. */
  get full(): boolean {
    return this.#ended || this.#open.size >= this.#most
  }

  /** Whether a client has all the streams that it may have. */
  hasEnough(caller: AgentCaller): boolean {
    const open = this.#clients.get(keyOf(caller))?.streams.size ?? 0
    return open >= (caller.address.by === 'capability' ? STREAMS_PER_URL : 1)
  }

  /** Opens the stream of a client: what it is subscribed to is told there. */
  open(caller: AgentCaller, stream: EventStream, response: HttpResponse): void {
    const { streams, channel } = this.#clientOf(caller)
    stream.begin()
    streams.add(stream)
    this.#add(stream, response, async () => stream.end())
    onceClosed(response, () => {
      streams.delete(stream)
      this.#forgetIdle(keyOf(caller), channel)
    })
  }

  /** What goes on with a client of the era before 2026, as its requests tell who it is. */
  channelFor(caller: AgentCaller): ClientChannel {
    return this.#clientOf(caller).channel
  }

  /** What goes on with a client by one request alone, for as long as the response to that is open. */
  listen(stream: EventStream, response: HttpResponse): ClientChannel {
    const channel = new ClientChannel({ say: (text) => stream.say(text) })
    this.#add(stream, response, async () => {
      await channel.shutDown()
      stream.end()
    })
    onceClosed(response, () => channel.end())
    return channel
  }

  /** Ends what is kept of a client whose session is over. */
  forget(caller: AgentCaller): void {
    const client = this.#clients.get(keyOf(caller))
    this.#clients.delete(keyOf(caller))
    client?.channel.end()
    for (const stream of client?.streams ?? []) stream.end()
  }

  /** Ends all of them, and tells those who listen. Waits for nobody who does not read. */
  end(): void {
    this.#ended = true
    clearInterval(this.#signs)
    for (const leave of this.#open.values()) void leave()
    for (const { channel } of this.#clients.values()) channel.end()
  }

  #add(stream: EventStream, response: HttpResponse, leave: () => Promise<void>): void {
    this.#open.set(stream, leave)
    onceClosed(response, () => this.#open.delete(stream))
  }

  #clientOf(caller: AgentCaller): Client {
    const key = keyOf(caller)
    const known = this.#clients.get(key)
    if (known) return known
    const streams = new Set<EventStream>()
    const channel: ClientChannel = new ClientChannel({
      // Where nobody can be told, nothing waits to be.
      say: async (text) => void (await Promise.all([...streams].map((stream) => stream.say(text)))),
      onIdle: () => this.#forgetIdle(key, channel),
    })
    const client = { channel, streams }
    this.#makeRoom()
    this.#clients.set(key, client)
    return client
  }

  #forgetIdle(key: string, channel: ClientChannel): void {
    const client = this.#clients.get(key)
    if (client?.channel === channel && channel.idle && client.streams.size === 0) this.#clients.delete(key)
  }

  #makeRoom(): void {
    if (this.#clients.size < AWAITED + this.#most) return
    for (const [key, { channel, streams }] of this.#clients) {
      if (streams.size > 0) continue
      this.#clients.delete(key)
      channel.end()
      return
    }
  }
}

/** By what the requests of one client are known: its transport session, or the seat of a session URL. */
function keyOf({ principal, address }: AgentCaller): string {
  return `${address.token} ${principal ?? ''}`
}

/** Runs something when a response is closed, or soon where it is already. */
function onceClosed(response: HttpResponse, run: () => void): void {
  if (response.destroyed) setImmediate(run)
  else response.once('close', run)
}
