import { DEFAULT_SEAT, type OpenResult } from '@episodic/protocol'
import type { DispatcherOptions } from '../dispatch/dispatcher.ts'
import type { Rejection } from '../host/access/caller.ts'
import { randomText } from '../host/access/session-tokens.ts'
import type { Host, OpenRequest } from '../host/host.ts'
import type { Metrics } from '../host/operate/metrics.ts'
import { ServerError } from '../server-error.ts'
import { type AuthOptions, OPERATOR } from '../transport/credentials.ts'
import type { ExtraRoutes } from './extra-routes.ts'
import type { AllowOptions } from './host-origin-check.ts'
import { openPort } from './open-port.ts'
import { createRequestHandler } from './request-handler.ts'

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
  /** The counters that `/metrics` shows to the operator. Default: none, and `/metrics` answers 404. */
  readonly metrics?: Metrics
  /** Serves paths beside the endpoints, for example conversations in a web page. Drained and ended with the server. */
  readonly extraRoutes?: ExtraRoutes
  /**
   * Opens this session of an environment of one seat, for the holder of the control token. `/mcp` is then the address
   * of this one session, and clients of the agent endpoint open none. Default: none.
   */
  readonly session?: Omit<OpenRequest, 'requestKey'> | undefined
  /** Is called with every rejected request, for an audit log. Default: nothing is called. */
  readonly onRejected?: (rejection: Rejection) => void
  /**
   * A diagnostic: `false` makes `node:http` parse every request, which is slower and returns the same responses.
   * Requests to `extraRoutes` are always parsed by `node:http`. Default `true`.
   */
  readonly fastPath?: boolean
}

export interface HttpLimits {
  /**
   * Connections at once. Default 10,000. A further one takes the place of one whose client has sent no valid token,
   * which waits for no answer if possible; if there is none, it is closed before it is read. Slow connections are
   * closed within seconds. One caller of the agent endpoint may have calls that wait for
   * their turn on half of them; its further ones are answered at once.
   */
  readonly connections?: number
  /** Largest request body or message in bytes. Default 1 MiB; of a trainer 65 MiB, to restore large states. */
  readonly bodyBytes?: number
  /** Notification streams open at once, each a connection. Default 1,000; beyond, 503, and the client can play. */
  readonly streams?: number
  /** Calls that one caller of the agent endpoint may make in a number of seconds. Default 1,000 in 10 seconds. */
  readonly rate?: { readonly calls: number; readonly seconds: number }
}

/** A running server. Disposing of it closes its port and its connections, but not the host. */
export interface HttpServer extends AsyncDisposable {
  readonly port: number
  /** The agent endpoint, for a plain MCP client. */
  readonly agentUrl: string
  /** The trainer endpoint, for `connect()` with the control token. */
  readonly trainerUrl: string
  readonly controlToken: string
  /** The session that `session` asked for. */
  readonly session: OpenResult | null
  sessionUrl(capability: string): string
  /**
   * Stops in an orderly way: rejects new calls with 503 and `Retry-After`, ends the waits of `watch`, and resolves when
   * every call is answered, or when `signal` is aborted, with the number of unanswered calls. A client finds out by a
   * retry whether such a call took effect. Dispose of the server afterwards.
   */
  drain(options?: { readonly signal?: AbortSignal | undefined }): Promise<number>
}

/**
 * Serves a host over Streamable HTTP: the agent endpoint at `/mcp` (`/mcp/e/<environment>` for an environment other
 * than the first, `/mcp/s/<capability>` for one session) and the trainer endpoint at `/env`. `/env` and
 * `/mcp/s/<capability>` are WebSockets too, with one JSON-RPC message in each text frame.
 *
 * An answer is JSON, or an event stream if notifications are sent before it. Clients of a session-based protocol
 * version receive the notifications of their subscriptions on the stream that they open with GET.
 *
 * Throws `unsafe-bind` for an address that would be open to a network, `address-in-use`, and with `session` the errors
 * of `Host.open`, and `option-invalid` for an environment of several seats.
 */
export async function serveHttp(host: Host, options: HttpOptions = {}): Promise<HttpServer> {
  const { port = 0, address = '127.0.0.1', auth = {}, allow = {}, limits = {}, fastPath = true } = options
  const { metrics, extraRoutes, onRejected, onError = () => {} } = options
  const { controlToken = randomText() } = auth
  const connections = limits.connections ?? 10_000
  const session = options.session ? await openFor(OPERATOR, host, options.session) : null
  const handler = createRequestHandler(host, {
    address,
    auth: { ...auth, controlToken },
    allow,
    rate: limits.rate ?? { calls: 1_000, seconds: 10 },
    bodyBytes: limits.bodyBytes ?? 1_048_576,
    connections,
    streams: limits.streams ?? 1_000,
    metrics,
    extraRoutes,
    session: session?.seats[DEFAULT_SEAT]?.capability,
    onRejected,
    onError,
  })
  const opened = await openPort(handler, { port, address, connections, fastPath, onError })
  const { origin } = opened
  return {
    port: opened.port,
    agentUrl: `${origin}/mcp`,
    trainerUrl: `${origin}/env`,
    controlToken,
    session,
    sessionUrl: (capability) => `${origin}/mcp/s/${capability}`,
    drain: ({ signal } = {}) => handler.drain(signal),
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  }
}

async function openFor(
  principal: string,
  host: Host,
  request: NonNullable<HttpOptions['session']>,
): Promise<OpenResult> {
  const seats = host.environments.find(({ name }) => name === request.environment)?.seats
  if (seats)
    throw new ServerError('option-invalid', `One address plays one seat, and ${request.environment} has several.`)
  return host.open(principal, { ...request, requestKey: randomText() })
}
