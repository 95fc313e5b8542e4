import type { Socket } from 'node:net'
import { METHOD_SCHEMAS, METHODS, WireError } from '@episodic/protocol'
import { idOf, isObject } from '@episodic/protocol/extend'
import { ClientChannel } from '../dispatch/client-channel.ts'
import type { Dispatcher, DispatcherOptions, DispatchOptions } from '../dispatch/dispatcher.ts'
import type { Rejection } from '../host/caller.ts'
import type { Metrics } from '../host/metrics.ts'
import { Connections } from '../transport/connection-set.ts'
import { type Credentials, type Identity, OPERATOR } from '../transport/credentials.ts'
import { drained } from '../transport/drain.ts'
import { LineSplitter } from '../transport/lines.ts'
import { MessagePipe } from '../transport/message-pipe.ts'
import { TIMEOUTS } from '../transport/timeouts.ts'

export interface SocketEndpointOptions extends DispatcherOptions {
  /** Longest message in bytes. Default 1 MiB. */
  readonly lineBytes?: number
  /** Requests of one connection that are answered at the same time. Default 256; it is read no further until there is room. */
  readonly inFlight?: number
  /** Seconds without a byte after which a connection is closed that waits for nothing. Default 900. */
  readonly idleSeconds?: number
  /** Counts what is refused. */
  readonly metrics?: Metrics
  /** Hears of every refusal, for an audit. */
  readonly onRejected?: (refusal: Rejection) => void
}

/** Seconds between two looks at whether a token still counts. */
const LOOK = 30
/** Longest first message of who has not said yet who they are: a token and little else. */
const HELLO_BYTES = 16_384

/** The trainer endpoint behind one listening socket. */
export class SocketEndpoint {
  readonly #dispatcher: Dispatcher
  /** `null` where whoever gets this far is the operator. */
  readonly #credentials: Credentials | null
  readonly #options: SocketEndpointOptions
  readonly #connections = new Connections()
  readonly #looks = new Set<() => void>()
  readonly #watching: NodeJS.Timeout
  #leaving = false

  constructor(dispatcher: Dispatcher, credentials: Credentials | null, options: SocketEndpointOptions) {
    this.#dispatcher = dispatcher
    this.#credentials = credentials
    this.#options = options
    this.#watching = setInterval(() => {
      for (const look of this.#looks) look()
    }, LOOK * 1_000).unref()
  }

  turnedAway(): void {
    this.#refused({ endpoint: null, principal: null, code: 'connections' })
  }

  drain(signal: AbortSignal | undefined): Promise<number> {
    this.#leaving = true
    return this.#connections.drain(signal)
  }

  end(): void {
    clearInterval(this.#watching)
    this.#connections.cut()
  }

  talk(socket: Socket): void {
    const { lineBytes = 1_048_576, inFlight = 256, idleSeconds = 900 } = this.#options
    const gone = new AbortController()
    let identity = this.#credentials ? null : OPERATOR
    let leaving = false
    const lines = new LineSplitter(identity ? lineBytes : HELLO_BYTES)
    const patience = identity ? undefined : setTimeout(() => socket.destroy(), TIMEOUTS.head * 1_000)
    const conversation: MessagePipe = new MessagePipe({
      dispatcher: this.#dispatcher,
      inFlight: identity ? inFlight : 1,
      onRefused: (code) => this.#refused({ endpoint: 'trainer', principal: identity?.principal ?? null, code }),
      answer: async (message) => {
        if (identity) return this.#dispatcher.dispatch({ endpoint: 'trainer', ...identity }, message, options)
        const known = await this.#authenticate(message)
        if (!known) return this.#dispatcher.refuse(new WireError('unauthorized', UNAUTHORIZED), idOf(message))
        clearTimeout(patience)
        identity = known.identity
        const look = () => this.#stillCounts(known.token).then((counts) => counts || hangUp())
        socket.on('close', () => this.#looks.delete(look))
        lines.limit = lineBytes
        conversation.inFlight = inFlight
        this.#looks.add(look)
        return { text: JSON.stringify({ jsonrpc: '2.0', id: idOf(message), result: {} }), refusal: null }
      },
      write(answers) {
        if (socket.writable) socket.write(`${answers.join('\n')}\n`)
        // Who was refused before they were known gets no second try.
        if (!identity) hangUp()
        return socket.writableNeedDrain ? drained(socket) : undefined
      },
    })
    const channel = new ClientChannel({ say: (text) => conversation.say(text) })
    const options: DispatchOptions = {
      signal: gone.signal,
      channel: () => channel,
      say: (text: string) => void conversation.say(text),
    }
    const hangUp = () => {
      leaving = true
      conversation.forget()
      socket.end()
      // What still comes is thrown away, so that the end of it is seen.
      socket.resume()
    }
    const connection = {
      conversation,
      async leave() {
        leaving = true
        gone.abort()
        const closed = new Promise((resolve) => socket.once('close', resolve))
        await conversation.finished()
        hangUp()
        if (!socket.closed) await closed
      },
      cut: () => socket.destroy(),
    }
    this.#connections.add(connection)
    socket.setTimeout(idleSeconds * 1_000, () => {
      if (conversation.count === 0) socket.destroy()
    })
    socket.on('data', (chunk: Buffer) => {
      if (leaving) return
      for (const line of lines.split(chunk)) conversation.hear(line)
      if (conversation.ready || socket.isPaused()) return
      socket.pause()
      conversation.caughtUp().then(() => socket.resume())
    })
    socket.on('end', () => conversation.finished().then(hangUp))
    socket.on('error', () => {})
    socket.on('close', () => {
      clearTimeout(patience)
      gone.abort()
      channel.end()
      conversation.forget()
      this.#connections.delete(connection)
    })
    if (this.#leaving) socket.destroy()
  }

  /** Whose token a first message shows; `null` for a message that does not, and for nobody's token. */
  async #authenticate(message: unknown): Promise<Known | null> {
    if (!isObject(message) || message.method !== METHODS.authenticate || idOf(message) === null) return null
    const params = METHOD_SCHEMAS.authenticate.params.safeParse(message.params)
    if (!params.success) return null
    const { token } = params.data
    const identity = await this.#identify(token)
    return identity && { token, identity }
  }

  async #identify(token: string): Promise<Identity | null> {
    try {
      return (await this.#credentials?.identify('trainer', token)) ?? null
    } catch (cause) {
      throw new WireError('store-unavailable', 'Tokens cannot be checked at the moment. Try again later.', { cause })
    }
  }

  /** A token that cannot be checked at the moment counts. */
  #stillCounts(token: string): Promise<boolean> {
    return this.#identify(token).then(
      (identity) => identity !== null,
      () => true,
    )
  }

  #refused(refusal: Rejection): void {
    this.#options.metrics?.refused(refusal.code)
    this.#options.onRejected?.(refusal)
  }
}

/** Somebody whose token counts. */
interface Known {
  readonly token: string
  readonly identity: Identity
}

const UNAUTHORIZED = `This endpoint wants a token that it knows first: send ${METHODS.authenticate} with { token }.`
