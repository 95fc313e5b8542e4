import { randomText } from '../host/access/session-tokens.ts'
import type { Host } from '../host/host.ts'
import { ServerError } from '../server-error.ts'
import type { AuthOptions } from '../transport/credentials.ts'
import { createAuthorizer } from './authorize.ts'
import type { ExtraRoutes } from './extra-routes.ts'
import { isLoopback } from './host-origin-check.ts'
import { openPort } from './open-port.ts'
import { createRoutesHandler } from './routes-handler.ts'
import type { HttpOptions, HttpServer } from './serve-http.ts'

export interface RoutesOptions extends Pick<HttpOptions, 'port' | 'allow' | 'onRejected' | 'onError'> {
  /** Default 127.0.0.1. */
  readonly address?: string
  /** Connections at once. Default 10,000. */
  readonly connections?: number
  /** Who may call. Default: who knows the control token. */
  readonly auth?: AuthOptions
  /** Whether clients need a token of the trainer endpoint. Without, only loopback is served. Default `true`. */
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
  const authorizer = createAuthorizer(host, {
    address,
    auth: { ...auth, controlToken },
    allow,
    asksTokens,
    rate: { calls: 1_000, seconds: 10 },
    onError,
  })
  const handler = createRoutesHandler(host, routes, authorizer, onRejected)
  const opened = await openPort(handler, { port, address, connections, fastPath: false, onError })
  return {
    port: opened.port,
    origin: opened.origin,
    controlToken,
    drain: ({ signal } = {}) => routes.drain(signal),
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  }
}
