import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Host } from '../host/host.ts'
import { randomText } from '../host/session-tokens.ts'
import { portInUse } from '../server-error.ts'
import { KEEP_ALIVE, PATIENCE, shedSlowReaders } from '../transport/timeouts.ts'
import { PlainConnections } from './fast-path/connection.ts'
import type { HttpRequest, HttpResponse } from './message.ts'
import { Pipelines } from './pipelining-limit.ts'
import { answerRequestErrors } from './request-errors.ts'
import { type FrontOptions, HttpFront } from './request-handler.ts'

export interface HttpOptions extends Omit<FrontOptions, 'address' | 'controlToken'> {
  /** Default 0: any free port. */
  readonly port?: number
  /** Default 127.0.0.1. Any other address wants `agentTokens` or `jwt`. */
  readonly address?: string
  /** The operator's secret at the trainer endpoint, at least 22 characters. Made at start-up unless given. */
  readonly controlToken?: string
  /**
   * Connections at once. Default 10,000. One more is closed as it comes, before it is read, and the others stay as they
   * are; what is slow or idle makes room within seconds.
   */
  readonly connections?: number
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
  const { port = 0, address = '127.0.0.1', controlToken = randomText(), connections = 10_000 } = options
  const { onError = () => {} } = options
  const front = new HttpFront(host, { ...options, address, controlToken })
  const pipelines = new Pipelines()
  const answer = (request: HttpRequest, response: HttpResponse): void => {
    front.answer(request, response).catch((cause) => {
      onError({ reference: 'http', cause })
      response.destroy()
    })
  }
  const server = createServer(
    {
      headersTimeout: PATIENCE.head * 1_000,
      requestTimeout: PATIENCE.request * 1_000,
      keepAliveTimeout: KEEP_ALIVE * 1_000,
      // How often the two above are looked after. By default that is every half minute, which would be the bound.
      connectionsCheckingInterval: 1_000,
      // Some HTTP clients ask for HTTP/2 with every call, and are content with an answer in what they speak.
      shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === 'websocket',
    },
    (request, response) => pipelines.take(response, request.socket, () => answer(request, response)),
  )
  // What stands beside the endpoints wants all that `node:http` has of a request.
  const plain = options.extraRoutes ? null : new PlainConnections(server, answer)
  answerRequestErrors(server, pipelines)
  server.maxConnections = connections
  server.on('drop', () => front.turnedAway())
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
