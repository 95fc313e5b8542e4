import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { randomText } from '../host/access/session-tokens.ts'
import type { OnError } from '../host/operate/faults.ts'
import { createCredentials } from '../transport/credentials.ts'
import { bearerOf, denyUpgrade } from './authorize.ts'
import { keepPlace } from './connection-limits.ts'
import type { HttpRequest } from './fast-path/connection.ts'
import type { HttpResponse } from './fast-path/response.ts'
import { createGuards, type Denial } from './host-origin-check.ts'
import { openPort } from './open-port.ts'

export interface PortClient {
  readonly isTrainer: boolean
  /** Notes that the request has another valid token: its connection then makes room for no other one. */
  welcome(): void
}

export interface TokenPortOptions {
  /** 0 for a free one. */
  readonly port: number
  readonly address: string
  /** Host names that are served besides the address itself. Required if the address is a wildcard. */
  readonly allowedHosts?: readonly string[]
  /** The bearer token of trainers, at least 22 characters. Default: a random one. */
  readonly controlToken?: string | undefined
  /** Seconds that all of a request may take to arrive. */
  readonly requestSeconds: number
  /** Answers a request of which the head is read, or rejects it for the given reason. Has to end every response. */
  answer(request: HttpRequest, response: HttpResponse, client: PortClient | Denial): Promise<void>
  /** Is called with an error that `answer` rejects with; its connection is closed. */
  readonly onError?: OnError
}

const MOST_CONNECTIONS = 10_000

/**
 * Opens a port without a host behind it, whose clients all need tokens: the control token, or others that `answer`
 * knows. Host and Origin are checked as for `serveHttp`, and the limits of connections are the same.
 *
 * Throws `unsafe-bind` for a wildcard without host names, `option-invalid` for a control token that could be guessed,
 * and `address-in-use`.
 */
export async function openTokenPort({ port, address, requestSeconds, answer, ...options }: TokenPortOptions) {
  const { allowedHosts = [], controlToken = randomText(), onError = () => {} } = options
  const guards = createGuards(address, { hosts: allowedHosts }, true)
  const credentials = createCredentials(controlToken, {})
  const clientOf = (request: HttpRequest): PortClient | Denial => {
    const denied = guards.checkSource(request)
    if (denied) return denied
    const isTrainer = credentials.identify('trainer', bearerOf(request)) !== null
    if (isTrainer) keepPlace(request.socket)
    return { isTrainer, welcome: () => keepPlace(request.socket) }
  }
  const handler = {
    leaves: null,
    answer(request: HttpRequest, response: HttpResponse): void {
      answer(request, response, clientOf(request)).catch((cause) => {
        onError({ reference: 'http', cause })
        response.destroy()
      })
    },
    async upgrade(_request: IncomingMessage, socket: Duplex): Promise<void> {
      socket.on('error', () => {})
      denyUpgrade(socket, { status: 404, message: 'There is no WebSocket here.' })
    },
    rejectedConnection() {},
    end() {},
  }
  const opened = await openPort(handler, {
    port,
    address,
    requestSeconds,
    connections: MOST_CONNECTIONS,
    fastPath: true,
    onError,
  })
  return { ...opened, controlToken }
}
