import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { every } from '@episodic/protocol/internal'
import { type WebSocket, WebSocketServer } from 'ws'

/** What serves one open WebSocket. */
export interface OpenSocket {
  /** Messages that were received and are not answered. */
  readonly count: number
  /** Closes the socket if its client is gone or its token no longer valid; else pings the client. */
  checkClient(): Promise<void>
  /** Reads no more, answers what was read, and resolves when the socket is closed. */
  drain(): Promise<void>
  /** Closes the socket at once. */
  terminate(): void
}

/**
 * Milliseconds between two checks of every socket. A client that is silent that long has to answer a ping before the
 * next check.
 */
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
  readonly #open = new Set<OpenSocket>()
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
      for (const socket of this.#open) void socket.checkClient()
    })
  }

  /** Whether the server stops, so that new sockets have to be rejected. */
  get draining(): boolean {
    return this.#draining
  }

  /** Messages that are being answered. */
  get count(): number {
    return [...this.#open].reduce((sum, { count }) => sum + count, 0)
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
      this.#open.add(socket)
      webSocket.on('close', () => this.#open.delete(socket))
    })
  }

  /**
   * Closes all sockets in an orderly way. Resolves when they are closed or `signal` is aborted, with the number of
   * unanswered messages.
   */
  async drain(signal: AbortSignal | undefined): Promise<number> {
    this.#draining = true
    const drained = Promise.all([...this.#open].map((socket) => socket.drain()))
    const { promise: aborted, resolve: abort } = Promise.withResolvers<void>()
    if (signal?.aborted) abort()
    signal?.addEventListener('abort', () => abort(), { once: true })
    await Promise.race([drained, aborted])
    return this.count
  }

  /** Ends every socket at once. */
  end(): void {
    this.#draining = true
    this.#stopChecks()
    for (const socket of this.#open) socket.terminate()
  }
}
