import type { IncomingMessage, ServerResponse } from 'node:http'
import { type JsonObject, WireError } from '@episodic/protocol'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import type { AgentWorld, Caller } from './caller.ts'
import { createDispatcher, type Dispatcher, type DispatcherOptions, type Reply } from './dispatcher.ts'
import type { Host, Principal } from './host.ts'
import { readBody } from './http-body.ts'
import { type AccessOptions, createGuards, type Denial, type Guards } from './http-guards.ts'
import { checkPost, missingTransport, statusOf } from './http-rules.ts'

export interface FrontOptions extends AccessOptions, DispatcherOptions {
  readonly address: string
  readonly controlToken: string
  /** Largest request body in bytes. Default 1 MiB. */
  readonly bodyBytes?: number
  /** Calls that one caller of the agent's door may make in a span of time. Default 1,000 in 10 seconds. */
  readonly rate?: { readonly calls: number; readonly seconds: number }
}

type AgentCaller = Caller & { readonly door: 'agent' }

/** Where a request goes, by its path. */
type Door = { readonly kind: 'trusted' } | { readonly kind: 'agent'; readonly world: AgentWorld }

/** The trusted principal on a socket: whoever holds the control token. */
const CONTROL: Principal = 'control'

/** Turns requests of a socket into messages of a caller, and replies into responses. Guards stand in front. */
export class HttpFront {
  readonly #host: Host
  readonly #dispatcher: Dispatcher
  readonly #guards: Guards
  readonly #limiter: RateLimiterMemory
  readonly #controlToken: string
  readonly #bodyBytes: number

  constructor(host: Host, options: FrontOptions) {
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
    response.setHeader('Allow', caller.door === 'agent' ? 'POST, DELETE' : 'POST')
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
    // A call proves its transport session by itself, where it finds its world.
    if (caller.door === 'agent' && method !== 'initialize' && method !== 'tools/call') {
      const missing = await this.#checkTransport(caller)
      if (missing) return this.#reply(request, response, caller, missing)
    }
    const signal = caller.door === 'trusted' && method !== 'tools/call' ? abortOnClose(response) : undefined
    const reply = await this.#dispatcher.dispatch(caller, message, { signal })
    if (method === 'initialize' && reply.refusal === null && caller.door === 'agent' && caller.world.by === 'transport')
      response.setHeader('Mcp-Session-Id', await this.#host.issueTransport(caller.principal))
    this.#reply(request, response, caller, reply)
  }

  async #delete(request: IncomingMessage, response: ServerResponse, caller: AgentCaller): Promise<void> {
    const { principal, world } = caller
    if (!(await this.#withinRate(request, response, caller))) return
    try {
      // Under a session URL the world belongs to whoever opened it: an agent that hangs up does not end it.
      if (world.by === 'transport') {
        if (world.transportId === null) return this.#deny(request, response, missingTransport())
        await this.#host.endTransport(principal, world.transportId, world.environment)
      }
      response.writeHead(204, this.#guards.corsHeaders(request)).end()
    } catch (error) {
      this.#reply(request, response, caller, this.#dispatcher.refuse(error))
    }
  }

  /** A request of a plain client has to name a transport session that was given out here. */
  async #checkTransport({ principal, world }: AgentCaller): Promise<Reply | null> {
    if (world.by === 'capability') return null
    try {
      if (world.transportId === null) throw new WireError('invalid-request', missingTransport().message)
      await this.#host.checkTransport(principal, world.transportId)
      return null
    } catch (error) {
      return this.#dispatcher.refuse(error)
    }
  }

  async #withinRate(request: IncomingMessage, response: ServerResponse, caller: AgentCaller): Promise<boolean> {
    try {
      await this.#limiter.consume(await this.#rateKey(request, caller))
      return true
    } catch (rejected) {
      const seconds = Math.ceil((rejected as { msBeforeNext: number }).msBeforeNext / 1_000)
      response.setHeader('Retry-After', seconds)
      this.#deny(request, response, { status: 429, message: `Too many calls. Try again in ${seconds} s.` })
      return false
    }
  }

  /** Whose calls are counted together. A name that was not given out here counts for the address that sends it. */
  async #rateKey({ socket }: IncomingMessage, { principal, world }: AgentCaller): Promise<string> {
    if (principal !== null) return `principal ${principal}`
    const secret = world.by === 'capability' ? world.capability : world.transportId
    return secret !== null && (await this.#host.vouch(principal, secret)) ? secret : `from ${socket.remoteAddress}`
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
    const cors = this.#guards.corsHeaders(request)
    if (text === null) response.writeHead(202, cors).end()
    else writeJson(response, statusOf(refusal, caller.door), text, cors)
  }

  #deny(request: IncomingMessage, response: ServerResponse, { status, message }: Denial): void {
    const text = JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32000, message } })
    if (status === 401) response.setHeader('WWW-Authenticate', 'Bearer')
    writeJson(response, status, text, this.#guards.corsHeaders(request))
  }

  #preflight(request: IncomingMessage, response: ServerResponse): void {
    const cors = this.#guards.corsHeaders(request)
    if (cors === undefined) {
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

function writeJson(
  response: ServerResponse,
  status: number,
  text: string,
  cors: ReturnType<Guards['corsHeaders']>,
): void {
  const bytes = Buffer.byteLength(text)
  response
    .writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': bytes, ...cors })
    // ASCII reads the same in both, and is written as it is in one of them.
    .end(text, bytes === text.length ? 'latin1' : 'utf8')
}

function abortOnClose(response: ServerResponse): AbortSignal {
  const abort = new AbortController()
  response.once('close', () => abort.abort())
  return abort.signal
}
