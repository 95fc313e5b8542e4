import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { every } from '@episodic/protocol/internal'
import { type WebSocket, WebSocketServer } from 'ws'

export interface OpenSocket {
  readonly count: number
  /** Returns why its client has to go, such as a token that is no longer valid; `null` if it may stay. */
  checkClient(): Promise<string | null>
  /** Ignores what is received from now on, and resolves when the messages before that are answered. */
  finish(): Promise<void>
}

interface Held {
  readonly webSocket: WebSocket
  readonly socket: OpenSocket
  /** Whether its client has sent nothing since it was pinged. */
  silent: boolean
}

/** Milliseconds between two checks of a socket. A client silent so long is pinged, and answers before the next. */
const HEART_BEAT = 15_000

/** No port of its own, no list of clients, no compression, and two seconds for a client to answer a close. */
const SETTINGS = {
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  maxFragments: 1_024,
  closeTimeout: 2_000,
} as const

/** The WebSockets of one endpoint, or of extra routes: their clients are checked, and they are drained together. */
export class WebSockets {
  readonly #server: WebSocketServer
  readonly #open = new Set<Held>()
  readonly #stopChecks: () => void
  #draining = false

  /**
   * @param messageBytes - the largest message.
   * @param protocols - the subprotocols, in order of preference. Default: the first that a client offers.
   */
  constructor(messageBytes: number, protocols?: readonly string[]) {
    this.#server = new WebSocketServer({
      ...SETTINGS,
      maxPayload: messageBytes,
      ...(protocols && { handleProtocols: (offered) => protocols.find((name) => offered.has(name)) ?? false }),
    })
    this.#stopChecks = every(HEART_BEAT, () => {
      for (const held of this.#open) void check(held)
    })
  }

  get draining(): boolean {
    return this.#draining
  }

  get count(): number {
    return [...this.#open].reduce((sum, { socket }) => sum + socket.count, 0)
  }

  /** Makes a connection a WebSocket. `open` creates what serves it; `null` if it has closed the socket. */
  upgrade(
    request: IncomingMessage,
    stream: Duplex,
    head: Buffer,
    open: (webSocket: WebSocket) => OpenSocket | null,
  ): void {
    this.#server.handleUpgrade(request, stream, head, (webSocket) => {
      const socket = open(webSocket)
      if (!socket) return
      const held: Held = { webSocket, socket, silent: false }
      this.#open.add(held)
      const onSign = () => {
        held.silent = false
      }
      webSocket
        .on('message', onSign)
        .on('pong', onSign)
        .on('close', () => this.#open.delete(held))
    })
  }

  /** Closes all sockets in order. Resolves then, or at the abort, with the number of unanswered messages. */
  async drain(signal: AbortSignal | undefined): Promise<number> {
    this.#draining = true
    const drained = Promise.all([...this.#open].map(close))
    const { promise: aborted, resolve: abort } = Promise.withResolvers<void>()
    if (signal?.aborted) abort()
    signal?.addEventListener('abort', () => abort(), { once: true })
    await Promise.race([drained, aborted])
    return this.count
  }

  end(): void {
    this.#draining = true
    this.#stopChecks()
    for (const { webSocket } of this.#open) webSocket.terminate()
  }
}

async function check(held: Held): Promise<void> {
  const { webSocket, socket } = held
  const reason = await socket.checkClient()
  if (reason !== null) return webSocket.close(1008, reason)
  // A pong of a paused socket would not be read. `shedSlowReaders` ends such a connection if it stays stuck.
  if (held.silent && !webSocket.isPaused) return webSocket.terminate()
  held.silent = true
  webSocket.ping()
}

async function close({ webSocket, socket }: Held): Promise<void> {
  const closed = new Promise((resolve) => webSocket.once('close', resolve))
  await socket.finish()
  if (webSocket.readyState !== webSocket.CLOSED) {
    webSocket.resume()
    webSocket.close(1001, 'The server is stopping.')
  }
  await closed
}

export function rejectUpgrade(stream: Duplex, status: number, body: object): void {
  const text = JSON.stringify(body)
  const retry = status === 503 ? 'Retry-After: 1\r\n' : ''
  const challenge = status === 401 ? 'WWW-Authenticate: Bearer\r\n' : ''
  stream.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n${retry}${challenge}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
    () => stream.destroy(),
  )
}
