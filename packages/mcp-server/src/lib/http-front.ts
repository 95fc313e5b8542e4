import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { type JsonObject, WireError } from '@episodic/protocol'
import type { Caller } from './caller.ts'
import { createDispatcher, type Dispatcher, type DispatcherOptions, type Reply } from './dispatcher.ts'
import { isModern } from './envelope.ts'
import type { Host, Principal } from './host.ts'
import { Admission, type AdmissionOptions, type AgentCaller, callerAt, tooManyCalls } from './http-admission.ts'
import type { Annex } from './http-annex.ts'
import { Answers } from './http-answers.ts'
import { readBody } from './http-body.ts'
import { Calls } from './http-calls.ts'
import { EventStream } from './http-event-stream.ts'
import { bearerOf, type Denial } from './http-guards.ts'
import { isModernPost } from './http-ladder.ts'
import type { Admitted, Mount } from './http-mount.ts'
import { type ProbeAnswer, Probes } from './http-probes.ts'
import { checkPost, checkVersion, missingTransport, statusOf } from './http-rules.ts'
import { Streams } from './http-streams.ts'
import { Talk, tooManyStreams } from './http-talk.ts'
import { refuseUpgrade } from './http-upgrade.ts'
import { identifyVisitor } from './http-visitor.ts'
import { WebSocketDoors } from './http-websocket.ts'
import type { Metrics } from './metrics.ts'
import { idOf } from './requests.ts'

/** A request that was not answered with a result. Holds no secret. */
export interface Refusal {
  /** Where it came to; `null` for what came to no door. */
  readonly door: Caller['door'] | null
  /** Who sent it, as far as they have proved it. */
  readonly principal: Principal
  /** What the answer says: a code of the wire, or `http-<status>`; `connections` where there were too many to answer. */
  readonly code: string
}

export interface FrontOptions extends AdmissionOptions, DispatcherOptions {
  /** What `/metrics` shows, to the control token or a trusted principal. Without it, that path is not there. */
  readonly metrics?: Metrics
  /** Hears of every refusal, for an audit. */
  readonly onRefusal?: (refusal: Refusal) => void
  /** Largest request body, and message of a WebSocket, in bytes. Default 1 MiB. */
  readonly bodyBytes?: number
  /**
   * Streams of events at once, on which clients are told of what they listen to; each holds a connection. Default 1,000. One
   * more is answered with 503, and its client plays all the same.
   */
  readonly streams?: number
  /** Answers at the agent's door in the place of the straight path. Whoever made it disposes of it. */
  readonly mount?: Mount
  /** Serves paths beside the doors, such as conversations in a web page. It is drained and ended with the server. */
  readonly annex?: Annex
}

/** Turns requests of a socket into messages of a caller, and replies into responses. Guards stand in front. */
export class HttpFront {
  readonly #host: Host
  readonly #dispatcher: Dispatcher
  readonly #admission: Admission
  readonly #bodyBytes: number
  readonly #mount: Mount | undefined
  readonly #annex: Annex | undefined
  readonly #calls = new Calls()
  readonly #answers = new Answers()
  readonly #probes: Probes
  readonly #webSockets: WebSocketDoors
  readonly #streams: Streams
  readonly #onRefused: (refusal: Refusal) => void

  constructor(host: Host, options: FrontOptions) {
    const { bodyBytes = 1_048_576, streams = 1_000, metrics, onRefusal } = options
    this.#host = host
    this.#dispatcher = createDispatcher(host, options)
    this.#admission = new Admission(host, options)
    this.#bodyBytes = bodyBytes
    this.#mount = options.mount
    this.#annex = options.annex
    this.#streams = new Streams(streams)
    this.#probes = new Probes(host, metrics)
    this.#onRefused = (refusal) => {
      metrics?.refused(refusal.code)
      onRefusal?.(refusal)
    }
    this.#webSockets = new WebSocketDoors({
      dispatcher: this.#dispatcher,
      admission: this.#admission,
      messageBytes: bodyBytes,
      onRefused: (caller, code) => this.#onRefused({ door: null, principal: null, ...caller, code }),
    })
  }

  /** Refuses what comes from now on, waits until every call is answered or `signal` is aborted, and says how many were not. */
  async drain(signal: AbortSignal | undefined): Promise<number> {
    const calling = this.#calls.drain(signal)
    this.#streams.end()
    const left = await Promise.all([calling, this.#webSockets.drain(signal), this.#annex?.drain(signal) ?? 0])
    return left.reduce((sum, count) => sum + count, 0)
  }

  /** Takes a connection that asks to be a WebSocket. */
  async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const annex = this.#annex?.owns(pathOf(request)) ? this.#annex : null
    if (!annex) return this.#webSockets.upgrade(request, socket, head)
    // Who hangs up in between takes the socket along, and nobody is left to be told.
    socket.on('error', () => {})
    const visitor = this.#admission.checkSource(request) ?? (await identifyVisitor(this.#admission, request))
    if (!('status' in visitor)) return annex.upgrade(request, socket, head, visitor)
    this.#onRefused({ door: null, principal: null, code: `http-${visitor.status}` })
    refuseUpgrade(socket, visitor)
  }

  /** Ends every WebSocket at once, and every stream. */
  end(): void {
    this.#streams.end()
    this.#webSockets.end()
    this.#annex?.end()
  }

  /** Hears of a connection that was closed as it came. */
  turnedAway(): void {
    this.#onRefused({ door: null, principal: null, code: 'connections' })
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = pathOf(request)
    if (path === '/healthz') return this.#say(request, response, this.#probes.health())
    if (path === '/readyz') return this.#say(request, response, await this.#probes.readiness(this.#calls.draining))
    const denied = this.#admission.checkSource(request)
    if (denied) return this.#deny(request, response, null, denied)
    if (path === '/metrics' && this.#probes.counts) return this.#showMetrics(request, response)
    if (this.#annex?.owns(path)) return this.#annex.answer(request, response, path)
    const door = this.#admission.doorOf(path, request)
    if (!door)
      return this.#deny(request, response, null, {
        status: 404,
        message: 'There is nothing at this path. The doors are /mcp and /env.',
      })
    if (request.method === 'OPTIONS') return this.#preflight(request, response)
    const identifying = this.#admission.identify(door.kind, bearerOf(request))
    const identity = identifying instanceof Promise ? await identifying : identifying
    if ('status' in identity) return this.#deny(request, response, { door: door.kind, principal: null }, identity)
    const caller = callerAt(door, identity)
    if (request.method === 'POST') return this.#post(request, response, caller)
    const sessionful = caller.door === 'agent' && !isModern(String(request.headers['mcp-protocol-version'] ?? ''))
    if (this.#mount && caller.door === 'agent' && sessionful)
      return this.#mounted(this.#mount, request, response, { caller, message: undefined, modern: false })
    if (request.method === 'DELETE' && sessionful) return this.#delete(request, response, caller)
    if (request.method === 'GET' && sessionful) return this.#listen(request, response, caller)
    response.setHeader('Allow', sessionful ? 'GET, POST, DELETE' : 'POST')
    return this.#deny(request, response, caller, { status: 405, message: `${request.method} is not served here.` })
  }

  async #post(request: IncomingMessage, response: ServerResponse, from: Caller): Promise<void> {
    let caller = from
    const refused = checkPost(request)
    if (refused) return this.#deny(request, response, caller, refused)
    if (caller.door === 'agent' && !(await this.#withinRate(request, response, caller))) return
    let message: unknown
    try {
      message = await this.#dispatcher.read(await readBody(request, this.#bodyBytes))
    } catch (error) {
      return this.#reply(request, response, caller, this.#dispatcher.refuse(error))
    }
    let modern: boolean
    try {
      modern = isModernPost(request.headers, message)
    } catch (error) {
      return this.#reply(request, response, caller, this.#dispatcher.refuse(error, idOf(message)), 400)
    }
    if (modern) caller = withoutTransport(caller)
    const unspoken = modern ? null : checkVersion(request)
    if (unspoken) return this.#deny(request, response, caller, unspoken)
    if (this.#calls.draining) return this.#deny(request, response, caller, leaving(response))
    const method = (message as JsonObject | null)?.method
    // Who listens does so until the server goes, and is no call that has to be answered before.
    if (method !== 'subscriptions/listen') this.#calls.begin(response)
    if (this.#mount && caller.door === 'agent')
      return this.#answerMounted(this.#mount, request, response, { caller, message, modern })
    // A call proves its transport session by itself, where it finds its world.
    if (caller.door === 'agent' && method !== 'initialize' && method !== 'tools/call') {
      const missing = await this.#checkTransport(caller)
      if (missing) return this.#reply(request, response, caller, missing)
    }
    const cors = () => this.#admission.corsHeaders(request)
    const talk = new Talk({ request, response, caller, method, modern, cors }, this.#calls, this.#streams)
    const reply = await this.#dispatcher.dispatch(caller, message, talk)
    if (talk.begun) return this.#endTalk(talk.begun, caller, reply)
    if (method === 'initialize' && reply.refusal === null && caller.door === 'agent' && caller.world.by === 'transport')
      response.setHeader('Mcp-Session-Id', await this.#host.issueTransport(caller.principal))
    this.#reply(request, response, caller, reply, statusOf(reply.refusal, caller.door, modern))
  }

  /** Opens the stream on which a client of the era before 2026 is told what it has subscribed to. */
  async #listen(request: IncomingMessage, response: ServerResponse, caller: AgentCaller): Promise<void> {
    const { headers } = request
    if (!/text\/event-stream|\*\/\*/i.test(headers.accept ?? ''))
      return this.#deny(request, response, caller, {
        status: 406,
        message: 'What is told here is a stream of events: Accept has to include text/event-stream.',
      })
    const unspoken = checkVersion(request)
    if (unspoken) return this.#deny(request, response, caller, unspoken)
    if (!(await this.#withinRate(request, response, caller))) return
    const missing = await this.#checkWorld(caller)
    if (missing) return this.#reply(request, response, caller, missing)
    if (this.#calls.draining) return this.#deny(request, response, caller, leaving(response))
    if (this.#streams.hasEnough(caller))
      return this.#deny(request, response, caller, { status: 409, message: 'Such a stream is open already.' })
    if (this.#streams.full)
      return this.#deny(request, response, caller, { status: 503, message: tooManyStreams().message })
    const stream = new EventStream(response, () => this.#admission.corsHeaders(request))
    this.#streams.open(caller, stream, response)
  }

  /** Ends an answer before which something was said, unless it goes on. */
  #endTalk(stream: EventStream, caller: Caller, { text, refusal, open }: Reply): void {
    if (refusal !== null) this.#onRefused({ door: caller.door, principal: caller.principal, code: refusal })
    if (!open) stream.end(text)
  }

  async #mounted(mount: Mount, request: IncomingMessage, response: ServerResponse, admitted: Admitted): Promise<void> {
    if (!(await this.#withinRate(request, response, admitted.caller))) return
    if (this.#calls.draining) return this.#deny(request, response, admitted.caller, leaving(response))
    this.#calls.begin(response)
    return this.#answerMounted(mount, request, response, admitted)
  }

  async #answerMounted(
    mount: Mount,
    request: IncomingMessage,
    response: ServerResponse,
    admitted: Admitted,
  ): Promise<void> {
    for (const [name, value] of Object.entries(this.#admission.corsHeaders(request) ?? {}))
      response.setHeader(name, value)
    try {
      await mount.answer(request, response, admitted)
    } catch (error) {
      // A session that is not there is no fault of whoever serves it. What has begun can only be cut off.
      if (response.headersSent) throw error
      const { caller, message, modern } = admitted
      const reply = this.#dispatcher.refuse(error, idOf(message))
      this.#reply(request, response, caller, reply, statusOf(reply.refusal, caller.door, modern))
    }
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
        this.#streams.forget(caller)
      }
      response.writeHead(204, this.#admission.corsHeaders(request)).end()
    } catch (error) {
      this.#reply(request, response, caller, this.#dispatcher.refuse(error))
    }
  }

  /** A request of a plain client has to name a transport session that was given out here. */
  async #checkTransport({ principal, world }: AgentCaller): Promise<Reply | null> {
    if (world.by !== 'transport') return null
    try {
      if (world.transportId === null) throw new WireError('invalid-request', missingTransport().message)
      await this.#host.checkTransport(principal, world.transportId)
      return null
    } catch (error) {
      return this.#dispatcher.refuse(error)
    }
  }

  /** The same for a stream, which at a session URL wants that there is such a session. */
  async #checkWorld(caller: AgentCaller): Promise<Reply | null> {
    const { world } = caller
    if (world.by !== 'capability') return this.#checkTransport(caller)
    return this.#host.environmentOf(world.capability).then(
      () => null,
      (error) => this.#dispatcher.refuse(error),
    )
  }

  async #withinRate(request: IncomingMessage, response: ServerResponse, caller: AgentCaller): Promise<boolean> {
    const seconds = await this.#admission.count(caller, request.socket.remoteAddress)
    if (seconds === 0) return true
    response.setHeader('Retry-After', seconds)
    this.#deny(request, response, caller, { status: 429, message: tooManyCalls(seconds) })
    return false
  }

  async #showMetrics(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const identity = await this.#admission.identify('trusted', bearerOf(request))
    if ('status' in identity) return this.#deny(request, response, null, identity)
    this.#say(request, response, await this.#probes.metrics(this.#calls.count + this.#webSockets.calls))
  }

  #say(request: IncomingMessage, response: ServerResponse, { status, type, text }: ProbeAnswer): void {
    if (request.method === 'GET' || request.method === 'HEAD')
      response
        .writeHead(status, {
          'Content-Type': type,
          'Cache-Control': 'no-store',
          ...(status === 503 && { 'Retry-After': '1' }),
        })
        .end(text)
    else this.#deny(request, response, null, { status: 405, message: 'Ask for this with GET.' })
  }

  #reply(
    request: IncomingMessage,
    response: ServerResponse,
    caller: Caller,
    { text, refusal, retryAfter }: Reply,
    status = statusOf(refusal, caller.door, false),
  ): void {
    const cors = this.#admission.corsHeaders(request)
    if (refusal !== null) this.#onRefused({ door: caller.door, principal: caller.principal, code: refusal })
    if (text === null) {
      response.writeHead(202, cors).end()
      return
    }
    if (retryAfter !== undefined && status !== 200) response.setHeader('Retry-After', Math.ceil(retryAfter))
    else if (status === 503) response.setHeader('Retry-After', 1)
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
    if (status === 503) response.setHeader('Retry-After', 1)
    this.#answers.json(response, status, text, this.#admission.corsHeaders(request))
  }

  #preflight(request: IncomingMessage, response: ServerResponse): void {
    const cors = this.#admission.corsHeaders(request)
    if (cors === undefined) {
      this.#deny(request, response, null, { status: 403, message: 'Pages of that Origin may not call this server.' })
      return
    }
    response
      .writeHead(204, {
        ...cors,
        'Access-Control-Allow-Methods': 'GET, POST, DELETE',
        'Access-Control-Allow-Headers':
          'Authorization, Content-Type, Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name',
        'Access-Control-Max-Age': '600',
      })
      .end()
  }
}

function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?', 1)[0] as string
}

/** The same caller in the era that has no transport sessions: its calls name their own. */
function withoutTransport(caller: Caller): Caller {
  if (caller.door === 'trusted' || caller.world.by !== 'transport') return caller
  return { ...caller, world: { by: 'handle', environment: caller.world.environment } }
}

/** What a call hears that comes while the server goes: it was not taken, and there may be another server soon. */
function leaving(response: ServerResponse): Denial {
  response.setHeader('Connection', 'close')
  return { status: 503, message: 'This server is stopping and takes no more calls. Nothing was done; try again.' }
}
