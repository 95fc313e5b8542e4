import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { randomText } from './handles.ts'
import type { Host } from './host.ts'
import { type FrontOptions, HttpFront } from './http-front.ts'
import { ServerError } from './server-error.ts'

export interface HttpOptions extends Omit<FrontOptions, 'address' | 'controlToken'> {
  /** Default 0: any free port. */
  readonly port?: number
  /** Default 127.0.0.1. Any other address wants `agentTokens` or `jwt`. */
  readonly address?: string
  /** The operator's secret at the trusted door, at least 22 characters. Made at start-up unless given. */
  readonly controlToken?: string
}

/** A server that listens. Disposing of it stops listening and ends its connections; the host lives on. */
export interface HttpServer extends AsyncDisposable {
  readonly port: number
  /** The agent's door, for a plain MCP client. */
  readonly agentUrl: string
  /** The trusted door, for `connect()` with the control token. */
  readonly trustedUrl: string
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
 * Serves a host over Streamable HTTP: the agent's door at `/mcp` (`/mcp/e/<environment>` for another than the first,
 * `/mcp/s/<capability>` for one session) and the trusted door at `/env`.
 *
 * Throws `unsafe-bind` for an address that would be open to a network, and `address-in-use`.
 */
export async function serveHttp(host: Host, options: HttpOptions = {}): Promise<HttpServer> {
  const { port = 0, address = '127.0.0.1', controlToken = randomText(), onError = () => {} } = options
  const front = new HttpFront(host, { ...options, address, controlToken })
  const server = createServer(
    { headersTimeout: 5_000, requestTimeout: 10_000, keepAliveTimeout: 65_000 },
    (request, response) => {
      front.answer(request, response).catch((cause) => {
        onError({ reference: 'http', cause })
        response.destroy()
      })
    },
  )
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) =>
      reject(cause.code === 'EADDRINUSE' ? inUse(address, port, cause) : cause),
    )
    server.listen(port, address, resolve)
  })
  const { port: bound } = server.address() as AddressInfo
  const base = `http://${address.includes(':') ? `[${address}]` : address}:${bound}`
  return {
    port: bound,
    agentUrl: `${base}/mcp`,
    trustedUrl: `${base}/env`,
    controlToken,
    sessionUrl: (capability) => `${base}/mcp/s/${capability}`,
    drain: ({ signal } = {}) => front.drain(signal),
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
}

function inUse(address: string, port: number, cause: unknown): ServerError {
  return new ServerError(
    'address-in-use',
    `Port ${port} of ${address} is in use. Stop what uses it, or choose another port.`,
    { cause },
  )
}
