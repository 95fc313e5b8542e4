/**
 * What a request goes through, from its bytes to its answer:
 *
 * 1. `fast-path` reads a plain request, and `node:http` any other; both give the same `HttpRequest`.
 * 2. `/healthz` and `/readyz` are answered. Host and Origin are checked for everything else.
 * 3. `/metrics`, and the paths of extra routes, are answered by their own code.
 * 4. The path names an endpoint, and at the agent endpoint the address of a session. The token names the principal.
 * 5. GET opens the event stream of an MCP session, DELETE ends one, and POST carries a message:
 *    a. its headers are checked, and the session of its address is resolved, once for all that follows;
 *    b. at the agent endpoint the call is counted, and refused if its caller has made too many;
 *    c. the body is read, within its bounds, and parsed;
 *    d. `classifyPost` decides what the message is: of the stateless version of MCP, an `initialize`, in an MCP
 *       session, or none of these;
 *    e. a server that shuts down refuses it; otherwise it counts as in flight until its response is closed;
 *    f. the id of an MCP session is checked, or issued for an `initialize`;
 *    g. the dispatcher answers it: a step is committed to the store before;
 *    h. the answer is searched for secrets by the dispatcher, and written as JSON, or as an event stream if something
 *       was sent before it.
 *
 * What is rejected on the way is reported to `onRejected`. Work that can be done at once, as for nearly every request,
 * is not awaited.
 */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { WireError } from '@episodic/protocol'
import { createDispatcher, type DispatcherOptions, type Reply } from '../dispatch/dispatcher.ts'
import { findSession } from '../dispatch/handle-request.ts'
import { TRAINER_BYTES } from '../dispatch/json-bounds.ts'
import { isModern, type Message } from '../dispatch/message.ts'
import type { AgentCaller, Caller, Rejection } from '../host/access/caller.ts'
import type { Host, SessionRef } from '../host/host.ts'
import type { Metrics } from '../host/operate/metrics.ts'
import { type AuthorizerOptions, bearerOf, callerAt, createAuthorizer } from './authorize.ts'
import { keepPlace } from './connection-limits.ts'
import { createStreams, EventStream } from './event-streams.ts'
import type { ExtraRoutes } from './extra-routes.ts'
import type { HttpRequest } from './fast-path/connection.ts'
import type { HttpResponse } from './fast-path/response.ts'
import { createProbes } from './health.ts'
import { type Denial, pathOf } from './host-origin-check.ts'
import { Calls, HeldCalls, HttpExchange, tooManyStreams } from './in-flight-calls.ts'
import { checkPost, checkVersion, classifyPost, missingTransport, takesEvents } from './post-rules.ts'
import { readBody } from './read-body.ts'
import { createReplies } from './responses.ts'
import { createRoutesHandler } from './routes-handler.ts'
import { createWebSocketEndpoints } from './websocket.ts'

export interface RequestHandlerOptions extends AuthorizerOptions, DispatcherOptions {
  /** Largest request body or WebSocket message, in bytes. */
  readonly bodyBytes: number
  /** Connections at once. One caller of the agent endpoint may have held calls on half of them. */
  readonly connections: number
  readonly streams: number
  readonly metrics: Metrics | undefined
  readonly extraRoutes: ExtraRoutes | undefined
  readonly onRejected: ((rejection: Rejection) => void) | undefined
}

/** Authorizes HTTP requests, dispatches their messages and writes the replies as responses. */
export function createRequestHandler(host: Host, options: RequestHandlerOptions) {
  const calls = new Calls()
  const { bodyBytes, streams, metrics, extraRoutes, onRejected, onError = () => {} } = options
  const dispatcher = createDispatcher(host, options)
  const authorizer = createAuthorizer(host, options)
  /** Extra routes read requests and responses as `node:http` makes them. */
  const leaves: ((url: string) => boolean) | null = extraRoutes ? (url) => extraRoutes.owns(pathOf(url)) : null
  const eventStreams = createStreams(streams)
  /** `null` if no environment has several seats: then no answer is held. */
  const held = host.environments.some(({ seats }) => seats) ? new HeldCalls(Math.ceil(options.connections / 2)) : null
  const probes = createProbes(host, metrics)
  const report = (rejection: Rejection) => {
    metrics?.refused(rejection.code)
    onRejected?.(rejection)
  }
  const routes = extraRoutes && createRoutesHandler(host, extraRoutes, authorizer, report)
  const replies = createReplies(authorizer.guards, report)
  const webSockets = createWebSocketEndpoints({
    dispatcher,
    authorizer,
    messageBytes: bodyBytes,
    onRejected: (caller, code) => report({ endpoint: null, principal: null, ...caller, code }),
  })
  return {
    leaves,
    async drain(signal: AbortSignal | undefined): Promise<number> {
      const calling = calls.drain(signal)
      eventStreams.end()
      const left = await Promise.all([calling, webSockets.drain(signal), extraRoutes?.drain(signal) ?? 0])
      return left.reduce((sum, count) => sum + count, 0)
    },
    async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
      const handler = leaves?.(request.url ?? '') ? routes : webSockets
      return handler?.upgrade(request, socket, head)
    },
    end(): void {
      eventStreams.end()
      webSockets.end()
      extraRoutes?.end()
    },
    rejectedConnection(): void {
      report({ endpoint: null, principal: null, code: 'connections' })
    },
    /** Answers a request. A failure goes to `onError` and closes the connection. */
    answer(request: HttpRequest, response: HttpResponse): void {
      answerAt(request, response).catch((cause) => {
        onError({ reference: 'http', cause })
        response.destroy()
      })
    },
  }

  async function answerAt(request: HttpRequest, response: HttpResponse): Promise<void> {
    const path = pathOf(request.url)
    if (path === '/healthz') return replies.report(request, response, probes.health())
    if (path === '/readyz') return replies.report(request, response, await probes.readiness(calls.draining))
    const denied = authorizer.guards.checkSource(request)
    if (denied) return replies.deny(request, response, null, denied)
    if (path === '/metrics' && probes.counts) return showMetrics(request, response)
    if (extraRoutes?.owns(path)) return routes?.serve(request, response, path)
    const endpoint = authorizer.endpointOf(path, request)
    if (!endpoint) return replies.deny(request, response, null, NOTHING_HERE)
    if ('status' in endpoint) return replies.deny(request, response, null, endpoint)
    if (request.method === 'OPTIONS') return replies.preflight(request, response)
    const identifying = authorizer.identify(endpoint.kind, bearerOf(request))
    const identity = identifying instanceof Promise ? await identifying : identifying
    if ('status' in identity)
      return replies.deny(request, response, { endpoint: endpoint.kind, principal: null }, identity)
    if (identity.principal !== null) keepPlace(request.socket)
    const caller = callerAt(endpoint, identity)
    if (request.method === 'POST') return await answerPost(request, response, caller)
    const sessionful = caller.endpoint === 'agent' && !isModern(String(request.headers['mcp-protocol-version'] ?? ''))
    if (request.method === 'DELETE' && sessionful) return endTransport(request, response, caller)
    if (request.method === 'GET' && sessionful) return openStream(request, response, caller)
    response.setHeader('Allow', sessionful ? 'GET, POST, DELETE' : 'POST')
    return replies.deny(request, response, caller, {
      status: 405,
      message: `${request.method} is not served here.`,
    })
  }

  async function answerPost(request: HttpRequest, response: HttpResponse, identified: Caller): Promise<void> {
    const refused = checkPost(request)
    if (refused) return replies.deny(request, response, identified, refused)
    const caller =
      held && identified.endpoint === 'agent'
        ? held.enter(identified, request.socket.remoteAddress, response)
        : identified
    const resolving = findSession(host, caller)
    const session = resolving instanceof Promise ? await resolving : resolving
    if (caller.endpoint === 'agent') {
      const seconds = await authorizer.count(caller, session, request.socket.remoteAddress)
      if (seconds > 0) return replies.rejectTooMany(request, response, caller, seconds)
    }
    let message: Message
    try {
      const { endpoint } = caller
      const most = endpoint === 'trainer' ? Math.max(bodyBytes, TRAINER_BYTES) : bodyBytes
      const body = readBody(request, most, caller.principal !== null)
      const reading = dispatcher.read(typeof body === 'string' ? body : await body, endpoint)
      message = reading instanceof Promise ? await reading : reading
    } catch (error) {
      return replies.answer(request, response, caller, dispatcher.refuse(error))
    }
    const posted = classifyPost(request, message, caller)
    if (posted.kind === 'denied') return replies.deny(request, response, caller, posted.denial)
    if (posted.kind === 'mismatched')
      return replies.answer(request, response, caller, dispatcher.refuse(posted.error, message.id), true, 400)
    if (calls.draining) return replies.rejectShuttingDown(request, response, posted.caller)
    const { method } = message
    // A subscription lasts until the server stops, so a drain does not wait for it.
    if (method !== 'subscriptions/listen') calls.begin(response)
    if (posted.kind === 'in-session') {
      const missing = await checkTransport(posted.caller, session)
      if (missing) return replies.answer(request, response, caller, missing)
    }
    const opened = posted.kind === 'initialize' ? await withNewTransport(posted.caller) : null
    const from = opened ?? posted.caller
    const modern = posted.kind === 'stateless'
    const cors = () => authorizer.guards.corsHeaders(request)
    const exchange = new HttpExchange(
      { request, response, caller: from, method, modern, session: opened ? null : session, cors },
      calls,
      eventStreams,
    )
    const reply = await dispatcher.dispatch(from, message, exchange)
    if (exchange.stream?.begun) return replies.conclude(exchange.stream, from, reply)
    if (opened && reply.refusal === null) response.setHeader('Mcp-Session-Id', opened.address.token as string)
    replies.answer(request, response, from, reply, modern)
  }

  /** Opens the event stream on which a client of the session-based version receives its notifications. */
  async function openStream(request: HttpRequest, response: HttpResponse, caller: AgentCaller): Promise<void> {
    if (!takesEvents(request))
      return replies.deny(request, response, caller, {
        status: 406,
        message: 'GET opens an event stream: Accept has to include text/event-stream.',
      })
    const unspoken = checkVersion(request)
    if (unspoken) return replies.deny(request, response, caller, unspoken)
    const session = await findSession(host, caller)
    const seconds = await authorizer.count(caller, session, request.socket.remoteAddress)
    if (seconds > 0) return replies.rejectTooMany(request, response, caller, seconds)
    const missing = await checkTransport(caller, session)
    if (missing) return replies.answer(request, response, caller, missing)
    if (calls.draining) return replies.rejectShuttingDown(request, response, caller)
    if (eventStreams.hasEnough(caller))
      return replies.deny(request, response, caller, { status: 409, message: 'Such a stream is open already.' })
    if (eventStreams.full)
      return replies.deny(request, response, caller, { status: 503, message: tooManyStreams().message })
    const stream = new EventStream(response, () => authorizer.guards.corsHeaders(request))
    eventStreams.open(caller, stream, response)
  }

  async function endTransport(request: HttpRequest, response: HttpResponse, caller: AgentCaller): Promise<void> {
    const { principal, address } = caller
    const session = await findSession(host, caller)
    const seconds = await authorizer.count(caller, session, request.socket.remoteAddress)
    if (seconds > 0) return replies.rejectTooMany(request, response, caller, seconds)
    if (calls.draining) return replies.rejectShuttingDown(request, response, caller)
    calls.begin(response)
    try {
      // The session of a session URL belongs to the trainer who opened it, so an agent cannot close it.
      if (address.by !== 'capability') {
        if (address.token === null) return replies.deny(request, response, caller, missingTransport())
        if (address.by === 'argument') await host.connections.end(principal, address.token)
        else await (session ?? (await host.resolve(principal, address))).close()
        eventStreams.forget(caller)
      }
      response.writeHead(204, authorizer.guards.corsHeaders(request)).end()
    } catch (error) {
      replies.answer(request, response, caller, dispatcher.refuse(error))
    }
  }

  async function withNewTransport(caller: AgentCaller): Promise<AgentCaller> {
    const { principal, address } = caller
    return { ...caller, address: { ...address, token: await host.connections.issue(principal) } }
  }

  async function checkTransport(
    { principal, address }: AgentCaller,
    session: SessionRef | null,
  ): Promise<Reply | null> {
    try {
      if (address.token === null) throw new WireError('invalid-request', missingTransport().message)
      if (address.by === 'argument') await host.connections.check(principal, address.token)
      else await (session ?? (await host.resolve(principal, address))).environment()
      return null
    } catch (error) {
      return dispatcher.refuse(error)
    }
  }

  async function showMetrics(request: HttpRequest, response: HttpResponse): Promise<void> {
    const identity = await authorizer.identify('trainer', bearerOf(request))
    if ('status' in identity) return replies.deny(request, response, null, identity)
    keepPlace(request.socket)
    // The counts are of all principals.
    if (!identity.operator) return replies.deny(request, response, null, OPERATOR_ONLY)
    replies.report(request, response, await probes.metrics(calls.count + webSockets.calls))
  }
}

const NOTHING_HERE: Denial = { status: 404, message: 'There is nothing at this path. The endpoints are /mcp and /env.' }

const OPERATOR_ONLY: Denial = {
  status: 403,
  message: "The metrics are for the operator: send the server's own control token.",
}
