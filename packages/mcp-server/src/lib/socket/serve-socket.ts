import { type AddressInfo, createServer, type Server } from 'node:net'
import { resolve } from 'node:path'
import { createDispatcher } from '../dispatch/dispatcher.ts'
import type { Host } from '../host/host.ts'
import { randomText } from '../host/session-tokens.ts'
import { portInUse } from '../server-error.ts'
import { type AuthOptions, createCredentials } from '../transport/credentials.ts'
import { shedSlowReaders } from '../transport/timeouts.ts'
import { SocketEndpoint, type SocketEndpointOptions } from './connection.ts'
import { listenOnFile } from './unix-path.ts'

/** A Unix socket, or a TCP port: by default any free one of 127.0.0.1. */
export type SocketPlace = { readonly path: string } | { readonly port?: number; readonly address?: string }

export interface SocketOptions extends SocketEndpointOptions, Pick<AuthOptions, 'controlTokens' | 'jwt'> {
  /** The operator's secret over TCP, at least 22 characters. Made at start-up unless given. A Unix socket asks for none. */
  readonly controlToken?: string
  /** Connections at once. Default 1,000; one more is closed as it comes. */
  readonly connections?: number
}

/** A socket that listens. Disposing of it stops listening and ends its connections; the host lives on. */
export interface SocketServer extends AsyncDisposable {
  /** For `connect()`: `unix:<path>`, or `tcp://<address>:<port>`. */
  readonly url: string
  /** `null` for a Unix socket. */
  readonly controlToken: string | null
  /**
   * Stops in an orderly way: answers what was read, hangs up, and resolves when that is done, or when `signal` is aborted,
   * with the number of unanswered messages. Dispose of the server afterwards.
   */
  drain(options?: { readonly signal?: AbortSignal | undefined }): Promise<number>
}

/**
 * Serves the trainer endpoint over newline-framed JSON-RPC: any number of sessions over one connection, each request answered
 * when it is ready.
 *
 * A Unix socket belongs to the user who runs the server: nobody else can open it, and whoever does is the operator. Over
 * TCP the first message has to be `environment/authenticate` with a token of the trainer endpoint, within five seconds and
 * answered before the next is sent. Anything else ends the connection, so that what a web page makes a browser send here
 * comes to nothing.
 *
 * Throws `address-in-use`, and `option-invalid` for a place that cannot be.
 */
export async function serveSocket(host: Host, place: SocketPlace, options: SocketOptions = {}): Promise<SocketServer> {
  const { controlToken = randomText(), connections = 1_000 } = options
  const credentials = 'path' in place ? null : createCredentials(controlToken, options)
  const endpoint = new SocketEndpoint(createDispatcher(host, options), credentials, options)
  const server = createServer({ allowHalfOpen: true, noDelay: true, keepAlive: true }, (socket) =>
    endpoint.talk(socket),
  )
  server.maxConnections = connections
  server.on('drop', () => endpoint.turnedAway())
  shedSlowReaders(server)
  const { url, remove } = await listen(server, place).catch((error) => {
    endpoint.end()
    throw error
  })
  return {
    url,
    controlToken: credentials && controlToken,
    drain: ({ signal } = {}) => endpoint.drain(signal),
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((done) => server.close(() => done()))
      endpoint.end()
      await closed
      await remove()
    },
  }
}

async function listen(server: Server, place: SocketPlace): Promise<{ url: string; remove(): Promise<void> }> {
  if ('path' in place) {
    const path = resolve(place.path)
    return { url: `unix:${path}`, remove: await listenOnFile(server, path) }
  }
  const { port = 0, address = '127.0.0.1' } = place
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) =>
      reject(cause.code === 'EADDRINUSE' ? portInUse(address, port, cause) : cause),
    )
    server.listen(port, address, resolve)
  })
  const { port: bound } = server.address() as AddressInfo
  return { url: `tcp://${address.includes(':') ? `[${address}]` : address}:${bound}`, async remove() {} }
}
