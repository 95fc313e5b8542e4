import type { IncomingMessage, ServerResponse } from 'node:http'
import { type JsonObject, WireError } from '@episodic/protocol'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import type { AgentWorld, Caller } from './caller.ts'
import { createDispatcher, type Dispatcher, type DispatcherOptions, type Reply } from './dispatcher.ts'
import type { Host, Principal } from './host.ts'
import { Answers } from './http-answers.ts'
import { readBody } from './http-body.ts'
import { Calls } from './http-calls.ts'
import { type CredentialOptions, type Credentials, createCredentials, type Identity } from './http-credentials.ts'
import { bearerOf, createGuards, type Denial, type Guards, type SourceOptions } from './http-guards.ts'
import { type ProbeAnswer, Probes } from './http-probes.ts'
import { checkPost, missingTransport, statusOf } from './http-rules.ts'
import type { Metrics } from './metrics.ts'

/** Who may come through the doors of a socket. */
export interface AccessOptions extends SourceOptions, CredentialOptions {}

/** A request that was not answered with a result. Holds no secret. */
export interface Refusal {
  /** Where it came to; `null` for what came to no door. */
  readonly door: Caller['door'] | null
  /** Who sent it, as far as they have proved it. */
  readonly principal: Principal
  /** What the answer says: a code of the wire, or `http-<status>`. */
  readonly code: string
}

export interface FrontOptions extends AccessOptions, DispatcherOptions {
  readonly address: string
  readonly controlToken: string
  /** What `/metrics` shows, to the control token or a trusted principal. Without it, that path is not there. */
  readonly metrics?: Metrics
  /** Hears of every refusal, for an audit. */
  readonly onRefusal?: (refusal: Refusal) => void
  /** Largest request body in bytes. Default 1 MiB. */
  readonly bodyBytes?: number
  /** Calls that one caller of the agent's door may make in a span of time. Default 1,000 in 10 seconds. */
  readonly rate?: { readonly calls: number; readonly seconds: number }
}

type AgentCaller = Caller & { readonly door: 'agent' }

/** Where a request goes, by its path. */
type Door = { readonly kind: 'trusted' } | { readonly kind: 'agent'; readonly world: AgentWorld }

/** Turns requests of a socket into messages of a caller, and replies into responses. Guards stand in front. */
export class HttpFront {
  readonly #host: Host
  readonly #dispatcher: Dispatcher
  readonly #guards: Guards
  readonly #credentials: Credentials
  readonly #limiter: RateLimiterMemory
  readonly #bodyBytes: number
  readonly #calls = new Calls()
  readonly #answers = new Answers()
  readonly #probes: Probes
  readonly #onError: NonNullable<DispatcherOptions['onError']>
  readonly #onRefused: (refusal: Refusal) => void

  constructor(host: Host, options: FrontOptions) {
    const { rate = { calls: 1_000, seconds: 10 }, bodyBytes = 1_048_576, metrics, onRefusal, onError } = options
    this.#host = host
    this.#dispatcher = createDispatcher(host, options)
    this.#credentials = createCredentials(options.controlToken, options)
    this.#guards = createGuards(options.address, options, this.#credentials.asksAgents)
    this.#limiter = new RateLimiterMemory({ points: rate.calls, duration: rate.seconds })
    this.#bodyBytes = bodyBytes
    this.#probes = new Probes(host, metrics)
    this.#onError = onError ?? (() => {})
    this.#onRefused = (refusal) => {
      metrics?.refused(refusal.code)
      onRefusal?.(refusal)
    }
  }

  /** Refuses what comes from now on, waits until every call is answered or `signal` is aborted, and says how many were not. */
  drain(signal: AbortSignal | undefined): Promise<number> {
    return this.#calls.drain(signal)
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').split('?', 1)[0] as string
    if (path === '/healthz') return this.#say(request, response, this.#probes.health())
    if (path === '/readyz') return this.#say(request, response, await this.#probes.readiness(this.#calls.draining))
    const denied = this.#guards.checkSource(request)
    if (denied) return this.#deny(request, response, null, denied)
    if (path === '/metrics' && this.#probes.counts) return this.#showMetrics(request, response)
    const door = this.#doorOf(path, request)
    if (!door)
      return this.#deny(request, response, null, {
        status: 404,
        message: 'There is nothing at this path. The doors are /mcp and /env.',
      })
    if (request.method === 'OPTIONS') return this.#preflight(request, response)
    const identifying = this.#identify(request, door.kind)
    const identity = identifying instanceof Promise ? await identifying : identifying
    if ('status' in identity) return this.#deny(request, response, { door: door.kind, principal: null }, identity)
    const { principal, operator } = identity
    const caller: Caller =
      door.kind === 'trusted'
        ? { door: 'trusted', principal, operator }
        : { door: 'agent', principal, world: door.world }
    if (request.method === 'POST') return this.#post(request, response, caller)
    if (request.method === 'DELETE' && caller.door === 'agent') return this.#delete(request, response, caller)
    response.setHeader('Allow', caller.door === 'agent' ? 'POST, DELETE' : 'POST')
    // A GET would open a stream of messages that this server has nothing to push on.
    return this.#deny(request, response, caller, { status: 405, message: `${request.method} is not served here.` })
  }

  async #post(request: IncomingMessage, response: ServerResponse, caller: Caller): Promise<void> {
    const refused = checkPost(request)
    if (refused) return this.#deny(request, response, caller, refused)
    if (caller.door === 'agent' && !(await this.#withinRate(request, response, caller))) return
    let message: unknown
    try {
      message = JSON.parse(await readBody(request, this.#bodyBytes))
    } catch (cause) {
      const error = WireError.is(cause) ? cause : new WireError('parse-error', 'The body is not JSON.', { cause })
      return this.#reply(request, response, caller, this.#dispatcher.refuse(error))
    }
    if (this.#calls.draining) return this.#deny(request, response, caller, leaving(response))
    this.#calls.begin(response)
    const method = (message as JsonObject | null)?.method
    // A call proves its transport session by itself, where it finds its world.
    if (caller.door === 'agent' && method !== 'initialize' && method !== 'tools/call') {
      const missing = await this.#checkTransport(caller)
      if (missing) return this.#reply(request, response, caller, missing)
    }
    const signal = caller.door === 'trusted' && method !== 'tools/call' ? this.#calls.waitSignal(response) : undefined
    const reply = await this.#dispatcher.dispatch(caller, message, { signal })
    if (method === 'initialize' && reply.refusal === null && caller.door === 'agent' && caller.world.by === 'transport')
      response.setHeader('Mcp-Session-Id', await this.#host.issueTransport(caller.principal))
    this.#reply(request, response, caller, reply)
  }

  async #delete(request: IncomingMessage, response: ServerResponse, caller: AgentCaller): Promise<void> {
    const { principal, world } = caller
    if (!(await this.#withinRate(request, response, caller))) return
    if (this.#calls.draining) return this.#deny(request, response, caller, leaving(response))
    this.#calls.begin(response)
    try {
      // Under a session URL the world belongs to whoever opened it: an agent that hangs up does not end it.
      if (world.by === 'transport') {
        if (world.transportId === null) return this.#deny(request, response, caller, missingTransport())
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
      const key = this.#rateKey(request, caller)
      await this.#limiter.consume(typeof key === 'string' ? key : await key)
      return true
    } catch (rejected) {
      const seconds = Math.ceil((rejected as { msBeforeNext: number }).msBeforeNext / 1_000)
      response.setHeader('Retry-After', seconds)
      this.#deny(request, response, caller, { status: 429, message: `Too many calls. Try again in ${seconds} s.` })
      return false
    }
  }

  /** Whose calls are counted together. A name that was not given out here counts for the address that sends it. */
  #rateKey({ socket }: IncomingMessage, { principal, world }: AgentCaller): string | Promise<string> {
    if (principal !== null) return `principal ${principal}`
    const secret = world.by === 'capability' ? world.capability : world.transportId
    const unproved = `from ${socket.remoteAddress}`
    if (secret === null) return unproved
    const vouched = this.#host.vouch(principal, secret)
    if (typeof vouched === 'boolean') return vouched ? secret : unproved
    return vouched.then((proved) => (proved ? secret : unproved))
  }

  #identify(request: IncomingMessage, door: Caller['door']): Identity | Denial | Promise<Identity | Denial> {
    if (door === 'agent' && !this.#credentials.asksAgents) return NOBODY
    const identity = this.#credentials.identify(door, bearerOf(request))
    if (!(identity instanceof Promise)) return identity ?? UNAUTHORIZED
    return identity.then(
      (found) => found ?? UNAUTHORIZED,
      (cause) => {
        this.#onError({ reference: 'jwks', cause })
        return { status: 503, message: 'Tokens cannot be checked at the moment. Try again later.' }
      },
    )
  }

  async #showMetrics(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const identity = await this.#identify(request, 'trusted')
    if ('status' in identity) return this.#deny(request, response, null, identity)
    this.#say(request, response, await this.#probes.metrics(this.#calls.count))
  }

  #say(request: IncomingMessage, response: ServerResponse, { status, type, text }: ProbeAnswer): void {
    if (request.method === 'GET' || request.method === 'HEAD')
      response.writeHead(status, { 'Content-Type': type, 'Cache-Control': 'no-store' }).end(text)
    else this.#deny(request, response, null, { status: 405, message: 'Ask for this with GET.' })
  }

  #doorOf(path: string, { headers }: IncomingMessage): Door | null {
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

  #reply(
    request: IncomingMessage,
    response: ServerResponse,
    caller: Caller,
    { text, refusal, retryAfter }: Reply,
  ): void {
    const cors = this.#guards.corsHeaders(request)
    if (refusal !== null) this.#onRefused({ door: caller.door, principal: caller.principal, code: refusal })
    if (text === null) {
      response.writeHead(202, cors).end()
      return
    }
    const status = statusOf(refusal, caller.door)
    if (retryAfter !== undefined && status !== 200) response.setHeader('Retry-After', Math.ceil(retryAfter))
    this.#answers.json(response, status, text, cors)
  }

  #deny(
    request: IncomingMessage,
    response: ServerResponse,
    caller: Pick<Caller, 'door' | 'principal'> | null,
    { status, message }: Denial,
  ): void {
    const { door, principal } = caller ?? { door: null, principal: null }
    this.#onRefused({ door, principal, code: `http-${status}` })
    const text = JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32000, message } })
    if (status === 401) response.setHeader('WWW-Authenticate', 'Bearer')
    this.#answers.json(response, status, text, this.#guards.corsHeaders(request))
  }

  #preflight(request: IncomingMessage, response: ServerResponse): void {
    const cors = this.#guards.corsHeaders(request)
    if (cors === undefined) {
      this.#deny(request, response, null, { status: 403, message: 'Pages of that Origin may not call this server.' })
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

const NOBODY: Identity = { principal: null, operator: false }
const UNAUTHORIZED: Denial = { status: 401, message: 'This door wants a bearer token that it knows.' }

/** What a call hears that comes while the server goes: it was not taken, and there may be another server soon. */
function leaving(response: ServerResponse): Denial {
  response.setHeader('Retry-After', 1).setHeader('Connection', 'close')
  return { status: 503, message: 'This server is stopping and takes no more calls. Nothing was done; try again.' }
}
