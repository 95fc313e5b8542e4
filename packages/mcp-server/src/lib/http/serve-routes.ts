import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Rejection } from '../host/access/caller.ts'
import { randomText } from '../host/access/session-tokens.ts'
import type { Host } from '../host/host.ts'
import { ServerError } from '../server-error.ts'
import type { AuthOptions } from '../transport/credentials.ts'
import { Authorizer, identifyClient, rejectUpgrade } from './authorize.ts'
import type { ClientIdentity, ExtraRoutes } from './extra-routes.ts'
import type { HttpRequest } from './fast-path/request.ts'
import type { HttpResponse } from './fast-path/response.ts'
import { type Denial, isLoopback } from './host-origin-check.ts'
import { openPort, type PortHandler } from './open-port.ts'
import { pathOf } from './request-path.ts'
import { Replies } from './responses.ts'
import type { HttpLimits, HttpOptions, HttpServer } from './serve-http.ts'

export interface RoutesOptions
  extends Pick<HttpOptions, 'port' | 'address' | 'allow' | 'onRejected' | 'onError'>,
    Pick<HttpLimits, 'connections'> {
  /** Who may call. Default: who knows the control token. */
  readonly auth?: AuthOptions
  /**
   * Whether the routes reject clients without a token of the trainer endpoint. Other routes are served on loopback
   * alone. Default `true`.
   */
  readonly asksTokens?: boolean
}

/** A running server of routes. Disposing of it closes its port and its connections, but not the host. */
export interface RoutesServer extends Pick<HttpServer, 'port' | 'controlToken' | 'drain'>, AsyncDisposable {
  /** `http://<address>:<port>` */
  readonly origin: string
}

/**
 * Serves extra routes on a port of their own, for protocols that need the root of an origin. There are no other
 * endpoints on the port.
 *
 * Throws `unsafe-bind` for an address that would be open to a network, and `address-in-use`.
 */
export async function serveRoutes(host: Host, routes: ExtraRoutes, options: RoutesOptions = {}): Promise<RoutesServer> {
  const { port = 0, address = '127.0.0.1', auth = {}, allow = {}, connections = 10_000 } = options
  const { asksTokens = true, onRejected = () => {}, onError = () => {} } = options
  const { controlToken = randomText() } = auth
  if (!asksTokens && !isLoopback(address))
    throw new ServerError(
      'unsafe-bind',
      `${address} can be reached from a network, and the clients of this port cannot send tokens. Bind 127.0.0.1.`,
    )
  const authorizer = new Authorizer(host, {
    address,
    auth: { ...auth, controlToken },
    allow,
    asksTokens,
    rate: { calls: 1_000, seconds: 10 },
    onError,
  })
  const handler = new RoutesHandler(host, routes, authorizer, onRejected)
  const opened = await openPort(handler, { port, address, connections, fastPath: false, onError })
  return {
    port: opened.port,
    origin: opened.origin,
    controlToken,
    drain: ({ signal } = {}) => routes.drain(signal),
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  }
}

class RoutesHandler implements PortHandler {
  readonly #host: Host
  readonly #routes: ExtraRoutes
  readonly #authorizer: Authorizer
  readonly #replies: Replies
  readonly #onRejected: (rejection: Rejection) => void

  constructor(host: Host, routes: ExtraRoutes, authorizer: Authorizer, onRejected: (rejection: Rejection) => void) {
    this.#host = host
    this.#routes = routes
    this.#authorizer = authorizer
    this.#onRejected = onRejected
    this.#replies = new Replies(authorizer.guards, onRejected)
  }

  /** There is no fast path on this port. */
  leaves(): boolean {
    return true
  }

  answer(request: HttpRequest, response: HttpResponse): void {
    const path = pathOf(request.url)
    const denied = this.#authorizer.guards.checkSource(request) ?? (this.#routes.owns(path) ? null : NOTHING_HERE)
    const incoming = request as IncomingMessage
    if (denied) this.#replies.deny(request, response, null, denied)
    else this.#routes.answer(incoming, response as ServerResponse, path, () => this.#identify(incoming, path))
  }

  async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    // If the client hangs up meanwhile, there is nobody to report the error to.
    socket.on('error', () => {})
    const path = pathOf(request.url)
    const denied = this.#authorizer.guards.checkSource(request) ?? (this.#routes.owns(path) ? null : NOTHING_HERE)
    const client = denied ?? (await this.#identify(request, path))
    if (!('status' in client)) return this.#routes.upgrade(request, socket, head, client)
    this.#onRejected({ endpoint: null, principal: null, code: `http-${client.status}` })
    rejectUpgrade(socket, client)
  }

  rejectedConnection(): void {
    this.#onRejected({ endpoint: null, principal: null, code: 'connections' })
  }

  end(): void {
    this.#routes.end()
  }

  #identify(request: IncomingMessage, path: string): Promise<ClientIdentity | Denial> {
    return identifyClient(this.#host, this.#authorizer, request, this.#routes.tokenOf?.(request, path) ?? undefined)
  }
}

const NOTHING_HERE: Denial = { status: 404, message: 'There is nothing at this path.' }
