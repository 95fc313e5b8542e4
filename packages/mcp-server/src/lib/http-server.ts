import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type JsonObject, WireError, type WireErrorCode } from '@episodic/protocol'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import type { AgentWorld, Caller } from './caller.ts'
import { createDispatcher, type DispatcherOptions, type Reply } from './dispatcher.ts'
import { randomText } from './handles.ts'
import type { Host, Principal } from './host.ts'
import { readBody } from './http-body.ts'
import { type AccessOptions, createGuards, type Denial } from './http-guards.ts'
import { PROTOCOL_VERSIONS } from './sdk-discovery.ts'
import { ServerError } from './server-error.ts'

export interface HttpOptions extends AccessOptions, DispatcherOptions {
  /** Default 0: any free port. */
  readonly port?: number
  /** Default 127.0.0.1. Any other address wants `agentTokens`. */
  readonly address?: string
  /** The secret of the trusted door, at least 22 characters. Made at start-up unless given. */
  readonly controlToken?: string
  /** Largest request body in bytes. Default 1 MiB. */
  readonly bodyBytes?: number
  /** Calls that one caller of the agent's door may make in a span of time. Default 1,000 in 10 seconds. */
  readonly rate?: { readonly calls: number; readonly seconds: number }
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
}

/** The trusted principal on a socket: whoever holds the control token. */
const CONTROL: Principal = 'control'

/**
 * Serves a host over Streamable HTTP: the agent's door at `/mcp` (`/mcp/e/<environment>` for another than the first,
 * `/mcp/s/<capability>` for one session) and the trusted door at `/env`.
 *
 * Throws `unsafe-bind` for an address that would be open to a network, and `address-in-use`.
 */
export async function serveHttp(host: Host, options: HttpOptions = {}): Promise<HttpServer> {
  const { port = 0, address = '127.0.0.1', controlToken = randomText(), onError = () => {} } = options
  if (controlToken.length < 22)
    throw new ServerError('option-invalid', 'The control token is shorter than 22 characters, so it could be guessed.')
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
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
}

/** Where a request goes, by its path. */
type Door = { readonly kind: 'trusted' } | { readonly kind: 'agent'; readonly world: AgentWorld }

class HttpFront {
  readonly #host: Host
  readonly #dispatcher: ReturnType<typeof createDispatcher>
  readonly #guards: ReturnType<typeof createGuards>
  readonly #limiter: RateLimiterMemory
  readonly #controlToken: string
  readonly #bodyBytes: number

  constructor(host: Host, options: HttpOptions & { readonly address: string; readonly controlToken: string }) {
    const { rate = { calls: 1_000, seconds: 10 }, bodyBytes = 1_048_576 } = options
    this.#host = host
    this.#dispatcher = createDispatcher(host, options)
    this.#guards = createGuards(options.address, options)
    this.#limiter = new RateLimiterMemory({ points: rate.calls, duration: rate.seconds })
    this.#controlToken = options.controlToken
    this.#bodyBytes = bodyBytes
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const denied = this.#guards.checkSource(request)
    if (denied) return this.#deny(request, response, denied)
    const door = this.#doorOf(request)
    if (!door)
      return this.#deny(request, response, {
        status: 404,
        message: 'There is nothing at this path. The doors are /mcp and /env.',
      })
    if (request.method === 'OPTIONS') return this.#preflight(request, response)
    const admitted = door.kind === 'trusted' ? this.#admitTrusted(request) : this.#guards.admitAgent(request)
    if ('status' in admitted) return this.#deny(request, response, admitted)
    const caller: Caller =
      door.kind === 'trusted'
        ? { door: 'trusted', principal: admitted.principal }
        : { door: 'agent', principal: admitted.principal, world: door.world }
    if (request.method === 'POST') return this.#post(request, response, caller)
    if (request.method === 'DELETE' && caller.door === 'agent') return this.#delete(request, response, caller)
    response.setHeader('Allow', 'POST, DELETE')
    // A GET would open a stream of messages that this server has nothing to push on.
    return this.#deny(request, response, { status: 405, message: `${request.method} is not served here.` })
  }

  async #post(request: IncomingMessage, response: ServerResponse, caller: Caller): Promise<void> {
    const refused = checkPost(request)
    if (refused) return this.#deny(request, response, refused)
    if (caller.door === 'agent' && !(await this.#withinRate(request, response, caller))) return
    let message: unknown
    try {
      message = JSON.parse(await readBody(request, this.#bodyBytes))
    } catch (cause) {
      const error = WireError.is(cause) ? cause : new WireError('parse-error', 'The body is not JSON.', { cause })
      return this.#reply(request, response, caller, this.#dispatcher.refuse(error))
    }
    const method = (message as JsonObject | null)?.method
    if (caller.door === 'agent' && method !== 'initialize') {
      const missing = await this.#checkTransport(caller)
      if (missing) return this.#reply(request, response, caller, missing)
    }
    const signal = caller.door === 'trusted' && method !== 'tools/call' ? abortOnClose(response) : undefined
    const reply = await this.#dispatcher.dispatch(caller, message, { signal })
    if (method === 'initialize' && reply.refusal === null && caller.door === 'agent' && caller.world.by === 'transport')
      response.setHeader('Mcp-Session-Id', await this.#host.issueTransport())
    this.#reply(request, response, caller, reply)
  }

  async #delete(
    request: IncomingMessage,
    response: ServerResponse,
    { principal, world }: Caller & { door: 'agent' },
  ): Promise<void> {
    try {
      // Under a session URL the world belongs to whoever opened it: an agent that hangs up does not end it.
      if (world.by === 'transport') {
        if (world.transportId === null) return this.#deny(request, response, missingTransport())
        await this.#host.endTransport(principal, world.transportId, world.environment)
      }
      response.writeHead(204, this.#guards.corsHeaders(request)).end()
    } catch (error) {
      this.#reply(request, response, { door: 'agent', principal, world }, this.#dispatcher.refuse(error))
    }
  }

  /** A request of a plain client has to name a transport session that was given out here. */
  async #checkTransport({ principal, world }: Caller & { door: 'agent' }): Promise<Reply | null> {
    if (world.by === 'capability') return null
    try {
      if (world.transportId === null) throw new WireError('invalid-request', missingTransport().message)
      await this.#host.checkTransport(principal, world.transportId)
      return null
    } catch (error) {
      return this.#dispatcher.refuse(error)
    }
  }

  async #withinRate(
    request: IncomingMessage,
    response: ServerResponse,
    { principal, world }: Caller & { door: 'agent' },
  ): Promise<boolean> {
    const named = world.by === 'capability' ? world.capability : world.transportId
    try {
      await this.#limiter.consume(principal ?? named ?? request.socket.remoteAddress ?? '')
      return true
    } catch (rejected) {
      const seconds = Math.ceil((rejected as { msBeforeNext: number }).msBeforeNext / 1_000)
      response.setHeader('Retry-After', seconds)
      this.#deny(request, response, { status: 429, message: `Too many calls. Try again in ${seconds} s.` })
      return false
    }
  }

  #admitTrusted(request: IncomingMessage): { readonly principal: Principal } | Denial {
    return this.#guards.admitControl(request, this.#controlToken) ?? { principal: CONTROL }
  }

  #doorOf({ url = '', headers }: IncomingMessage): Door | null {
    const path = url.split('?', 1)[0] as string
    if (path === '/env') return { kind: 'trusted' }
    const capability = /^\/mcp\/s\/([\w-]+)$/.exec(path)?.[1]
    if (capability) return { kind: 'agent', world: { by: 'capability', capability } }
    const named = path === '/mcp' ? this.#host.environments[0]?.name : /^\/mcp\/e\/([\w-]+)$/.exec(path)?.[1]
    if (!named || !this.#host.environments.some(({ name }) => name === named)) return null
    const transportId = headers['mcp-session-id']
    return {
      kind: 'agent',
      world: { by: 'transport', transportId: typeof transportId === 'string' ? transportId : null, environment: named },
    }
  }

  #reply(request: IncomingMessage, response: ServerResponse, caller: Caller, { text, refusal }: Reply): void {
    if (text === null) {
      response.writeHead(202, this.#guards.corsHeaders(request)).end()
      return
    }
    const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }
    response.writeHead(statusOf(refusal, caller), { ...headers, ...this.#guards.corsHeaders(request) }).end(text)
  }

  #deny(request: IncomingMessage, response: ServerResponse, { status, message }: Denial): void {
    const text = JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32000, message } })
    if (status === 401) response.setHeader('WWW-Authenticate', 'Bearer')
    response.writeHead(status, {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(text),
      ...this.#guards.corsHeaders(request),
    })
    response.end(text)
  }

  #preflight(request: IncomingMessage, response: ServerResponse): void {
    const cors = this.#guards.corsHeaders(request)
    if (Object.keys(cors).length === 0) {
      this.#deny(request, response, { status: 403, message: 'Pages of that Origin may not call this server.' })
      return
    }
    response
      .writeHead(204, {
        ...cors,
        'Access-Control-Allow-Methods': 'POST, DELETE',
        'Access-Control-Allow-Headers': 'Authorization, Content-Type, Mcp-Session-Id, MCP-Protocol-Version',
        'Access-Control-Max-Age': '600',
      })
      .end()
  }
}

/** What Streamable HTTP asks of every POST. */
function checkPost({ headers }: IncomingMessage): Denial | null {
  if (!/^application\/json\s*(;|$)/i.test(headers['content-type'] ?? ''))
    return { status: 415, message: 'Send JSON: Content-Type: application/json.' }
  const { accept = '*/*' } = headers
  if (!/application\/json|application\/\*|\*\/\*/i.test(accept))
    return { status: 406, message: 'Answers are JSON: Accept has to include application/json.' }
  const version = headers['mcp-protocol-version']
  if (version !== undefined && !PROTOCOL_VERSIONS.includes(version as string))
    return {
      status: 400,
      message: `This protocol version is not spoken here. Spoken are: ${PROTOCOL_VERSIONS.join(', ')}.`,
    }
  return null
}

const STATUS: Partial<Record<WireErrorCode, number>> = {
  'parse-error': 400,
  'invalid-request': 400,
  'too-large': 413,
  capacity: 503,
  'store-unavailable': 503,
}

/** At the trusted door a refusal is an answer like any other; at the agent's door plain clients go by the status. */
function statusOf(refusal: WireErrorCode | null, caller: Caller): number {
  if (refusal === null) return 200
  if (caller.door === 'trusted') return refusal === 'too-large' ? 413 : 200
  return refusal === 'session-not-found' ? 404 : (STATUS[refusal] ?? 200)
}

function missingTransport(): Denial {
  return { status: 400, message: 'Send the Mcp-Session-Id that initialize answered with.' }
}

function abortOnClose(response: ServerResponse): AbortSignal {
  const abort = new AbortController()
  response.once('close', () => abort.abort())
  return abort.signal
}

function inUse(address: string, port: number, cause: unknown): ServerError {
  return new ServerError(
    'address-in-use',
    `Port ${port} of ${address} is in use. Stop what uses it, or choose another port.`,
    { cause },
  )
}
