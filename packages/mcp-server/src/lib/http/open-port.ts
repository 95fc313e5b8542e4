import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import type { DispatcherOptions } from '../dispatch/dispatcher.ts'
import { portInUse } from '../server-error.ts'
import { KEEP_ALIVE, shedSlowReaders, TIMEOUTS } from '../transport/timeouts.ts'
import { answerRequestErrors, boundConnections, Pipelines } from './connection-limits.ts'
import { createPlainConnections, type HttpRequest, type PlainHandler } from './fast-path/connection.ts'
import type { HttpResponse } from './fast-path/response.ts'

export interface PortHandler extends PlainHandler {
  answer(request: HttpRequest, response: HttpResponse): void
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void>
  /** Is called with every connection that was closed before it was read, because there were too many. */
  rejectedConnection(): void
  end(): void
}

export interface PortOptions {
  readonly port: number
  readonly address: string
  readonly connections: number
  readonly fastPath: boolean
  /** Seconds that all of a request may take to arrive. Default: 10. */
  readonly requestSeconds?: number
  readonly onError: NonNullable<DispatcherOptions['onError']>
}

/** A port that is listened on. Disposing of it closes it and its connections. */
export interface OpenPort extends AsyncDisposable {
  readonly port: number
  /** `http://<address>:<port>` */
  readonly origin: string
}

/** Listens on a port, with the limits and timeouts of every server of this package. Rejects with `address-in-use`. */
export async function openPort(
  handler: PortHandler,
  { port, address, connections, fastPath, requestSeconds = TIMEOUTS.request, onError }: PortOptions,
): Promise<OpenPort> {
  const pipelines = new Pipelines()
  const server = createServer(
    {
      headersTimeout: TIMEOUTS.head * 1_000,
      requestTimeout: requestSeconds * 1_000,
      keepAliveTimeout: KEEP_ALIVE * 1_000,
      // How often `node:http` checks the two timeouts above. Its default, 30 s, would exceed both.
      connectionsCheckingInterval: 1_000,
      // Some HTTP clients offer an upgrade to HTTP/2 with every call, and accept an answer in HTTP/1.1.
      shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === 'websocket',
    },
    (request, response) =>
      pipelines.take(response, request.socket, () => handler.answer(inOriginForm(request), response)),
  )
  const plain = fastPath ? createPlainConnections(server, handler) : null
  answerRequestErrors(server, pipelines)
  const upgraded = new WeakSet<Duplex>()
  boundConnections(server, {
    most: connections,
    isBusy: (socket) =>
      pipelines.currentOf(socket) !== undefined || plain?.isAnswering(socket) === true || upgraded.has(socket),
    onRejected: () => handler.rejectedConnection(),
  })
  server.on('upgrade', (request, socket, head) => {
    upgraded.add(socket)
    handler.upgrade(inOriginForm(request), socket, head).catch((cause) => {
      onError({ reference: 'websocket', cause })
      socket.destroy()
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) =>
      reject(cause.code === 'EADDRINUSE' ? portInUse(address, port, cause) : cause),
    )
    // A shorter queue loses what clients send while the process is busy, and they send it again later and later.
    server.listen({ port, host: address, backlog: connections }, resolve)
  })
  shedSlowReaders(server)
  const { port: bound } = server.address() as AddressInfo
  return {
    port: bound,
    origin: `http://${address.includes(':') ? `[${address}]` : address}:${bound}`,
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      plain?.end()
      handler.end()
      await closed
    },
  }
}

/** Returns a request with a path as its URL. A proxy sends the whole URL (RFC 9112, 3.2.2), whose host counts. */
function inOriginForm(request: IncomingMessage): IncomingMessage {
  const [whole, host] = /^https?:\/\/([^/?#]*)/i.exec(request.url ?? '') ?? []
  if (whole === undefined) return request
  const rest = (request.url as string).slice(whole.length)
  request.url = rest.startsWith('/') ? rest : `/${rest}`
  request.headers.host = host
  return request
}
