import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { DispatcherOptions } from '../dispatch/dispatcher.ts'
import type { Rejection } from '../host/caller.ts'
import type { Host } from '../host/host.ts'
import type { Metrics } from '../host/metrics.ts'

import { randomText } from '../host/session-tokens.ts'
import { portInUse } from '../server-error.ts'
import type { AuthOptions } from '../transport/credentials.ts'
import { KEEP_ALIVE, shedSlowReaders, TIMEOUTS } from '../transport/timeouts.ts'
import type { ExtraRoutes } from './extra-routes.ts'
import { PlainConnections } from './fast-path/connection.ts'
import type { AllowOptions } from './host-origin-check.ts'
import type { HttpRequest, HttpResponse } from './message.ts'
import { Pipelines } from './pipelining-limit.ts'
import { answerRequestErrors } from './request-errors.ts'
import { RequestHandler } from './request-handler.ts'

export interface HttpOptions extends DispatcherOptions {
  /** Default 0: any free port. */
  readonly port?: number
  /** Default 127.0.0.1. Any other address requires `auth.agentTokens` or `auth.jwt`. */
  readonly address?: string
  /** Who may call. Default: the operator at the trainer endpoint, and everyone at the agent endpoint. */
  readonly auth?: AuthOptions
  /** Which `Host` and `Origin` headers are accepted. Default: those of the address itself. */
  readonly allow?: AllowOptions
  /** What clients may use at most. Each limit has a default. */
  readonly limits?: HttpLimits
  /** The counters that `/metrics` shows to trainers. Default: none, and `/metrics` answers 404. */
  readonly metrics?: Metrics
  /** Serves paths beside the endpoints, for example conversations in a web page. Drained and ended with the server. */
  readonly extraRoutes?: ExtraRoutes
  /** Is called with every rejected request, for an audit log. Default: nothing is called. */
  readonly onRejected?: (rejection: Rejection) => void
  /**
   * A diagnostic: `false` makes `node:http` parse every request, which is slower and returns the same responses. Default
   * `true`, unless there are `extraRoutes`, which need what only `node:http` offers.
   */
  readonly fastPath?: boolean
}

export interface HttpLimits {
  /**
   * Connections at once. Default 10,000. A further one is closed before it is read; the open ones are not affected. Slow
   * and idle connections are closed within seconds.
   */
  readonly connections?: number
  /** Largest request body or WebSocket message, in bytes. Default 1 MiB. */
  readonly bodyBytes?: number
  /**
   * Event streams for notifications that may be open at once; each holds a connection. Default 1,000. A further one is
   * answered with 503; its client can still play.
   */
  readonly streams?: number
  /** Calls that one caller of the agent endpoint may make in a number of seconds. Default 1,000 in 10 seconds. */
  readonly rate?: { readonly calls: number; readonly seconds: number }
}

/** A server that listens. Disposing of it stops listening and ends its connections; the host lives on. */
export interface HttpServer extends AsyncDisposable {
  readonly port: number
  /** The agent endpoint, for a plain MCP client. */
  readonly agentUrl: string
  /** The trainer endpoint, for `connect()` with the control token. */
  readonly trainerUrl: string
  readonly controlToken: string
  /** The address of one seat, to hand to an agent. */
  sessionUrl(capability: string): string
  /**
   * Stops in an orderly way: refuses new calls with 503 and `Retry-After`, ends the waits of `watch`, and resolves when
   * every call is answered, or when `signal` is aborted, with the number of those that were not. Whether such a call took
   * effect, its retry tells. Dispose of the server afterwards.
   */
  drain(options?: { readonly signal?: AbortSignal | undefined }): Promise<number>
}

/**
 * Serves a host over Streamable HTTP: the agent endpoint at `/mcp` (`/mcp/e/<environment>` for another than the first,
 * `/mcp/s/<capability>` for one session) and the trainer endpoint at `/env`. `/env` and `/mcp/s/<capability>` are
 * WebSockets too, one JSON-RPC message a text frame.
 *
 * An answer is JSON, and a stream of events where something is told before it. Clients of the era before 2026 that listen to
 * a resource are told of it on the stream that they open with GET.
 *
 * Throws `unsafe-bind` for an address that would be open to a network, and `address-in-use`.
 */
export async function serveHttp(host: Host, options: HttpOptions = {}): Promise<HttpServer> {
  const { port = 0, address = '127.0.0.1', auth = {}, allow = {}, limits = {}, fastPath = true } = options
  const { metrics, extraRoutes, onRejected, onError = () => {} } = options
  const { controlToken = randomText() } = auth
  const front = new RequestHandler(host, {
    address,
    auth: { ...auth, controlToken },
    allow,
    rate: limits.rate ?? { calls: 1_000, seconds: 10 },
    bodyBytes: limits.bodyBytes ?? 1_048_576,
    streams: limits.streams ?? 1_000,
    metrics,
    extraRoutes,
    onRejected,
    onError,
  })
  const pipelines = new Pipelines()
  const answer = (request: HttpRequest, response: HttpResponse): void => {
    front.answer(request, response).catch((cause) => {
      onError({ reference: 'http', cause })
      response.destroy()
    })
  }
  const server = createServer(
    {
      headersTimeout: TIMEOUTS.head * 1_000,
      requestTimeout: TIMEOUTS.request * 1_000,
      keepAliveTimeout: KEEP_ALIVE * 1_000,
      // How often the two above are looked after. By default that is every half minute, which would be the bound.
      connectionsCheckingInterval: 1_000,
      // Some HTTP clients ask for HTTP/2 with every call, and are content with an answer in what they speak.
      shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === 'websocket',
    },
    (request, response) => pipelines.take(response, request.socket, () => answer(request, response)),
  )
  // Extra routes read requests and responses as `node:http` makes them.
  const plain = fastPath && !extraRoutes ? new PlainConnections(server, answer) : null
  answerRequestErrors(server, pipelines)
  server.maxConnections = limits.connections ?? 10_000
  server.on('drop', () => front.rejectedConnection())
  server.on('upgrade', (request, socket, head) => {
    front.upgrade(request, socket, head).catch((cause) => {
      onError({ reference: 'websocket', cause })
      socket.destroy()
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) =>
      reject(cause.code === 'EADDRINUSE' ? portInUse(address, port, cause) : cause),
    )
    server.listen(port, address, resolve)
  })
  shedSlowReaders(server)
  const { port: bound } = server.address() as AddressInfo
  const base = `http://${address.includes(':') ? `[${address}]` : address}:${bound}`
  return {
    port: bound,
    agentUrl: `${base}/mcp`,
    trainerUrl: `${base}/env`,
    controlToken,
    sessionUrl: (capability) => `${base}/mcp/s/${capability}`,
    drain: ({ signal } = {}) => front.drain(signal),
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      plain?.end()
      front.end()
      await closed
    },
  }
}
