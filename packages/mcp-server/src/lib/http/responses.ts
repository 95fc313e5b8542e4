import type { Reply } from '../dispatch/dispatcher.ts'
import type { Caller, Rejection } from '../host/caller.ts'
import type { EventStream } from './event-stream.ts'
import type { HttpRequest } from './fast-path/request.ts'
import type { HttpResponse } from './fast-path/response.ts'
import type { ProbeAnswer } from './health.ts'
import type { Denial, Guards } from './host-origin-check.ts'
import { statusOf } from './post-rules.ts'
import { Answers } from './write-batch.ts'

/** Writes responses with their CORS headers, and reports every rejected request. */
export class Replies {
  readonly #guards: Guards
  readonly #onRejected: (rejection: Rejection) => void
  readonly #answers = new Answers()

  constructor(guards: Guards, onRejected: (rejection: Rejection) => void) {
    this.#guards = guards
    this.#onRejected = onRejected
  }

  /** Answers a message with its reply. */
  answer(
    request: HttpRequest,
    response: HttpResponse,
    caller: Caller,
    { text, refusal, retryAfter }: Reply,
    status = statusOf(refusal, caller.endpoint, false),
  ): void {
    const cors = this.#guards.corsHeaders(request)
    if (refusal !== null) this.#onRejected({ endpoint: caller.endpoint, principal: caller.principal, code: refusal })
    if (text === null) {
      response.writeHead(202, cors).end()
      return
    }
    if (retryAfter !== undefined && status !== 200) response.setHeader('Retry-After', Math.ceil(retryAfter))
    else if (status === 503) response.setHeader('Retry-After', 1)
    this.#answers.json(response, status, text, cors)
  }

  /** Ends an event stream with the reply, unless the stream stays open. */
  conclude(stream: EventStream, caller: Caller, { text, refusal, open }: Reply): void {
    if (refusal !== null) this.#onRejected({ endpoint: caller.endpoint, principal: caller.principal, code: refusal })
    if (!open) stream.end(text)
  }

  /** Rejects a request. `caller` is `null` if the request reached no endpoint. */
  deny(
    request: HttpRequest,
    response: HttpResponse,
    caller: Pick<Caller, 'endpoint' | 'principal'> | null,
    { status, message }: Denial,
  ): void {
    const { endpoint, principal } = caller ?? { endpoint: null, principal: null }
    this.#onRejected({ endpoint, principal, code: `http-${status}` })
    const text = JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32000, message } })
    if (status === 401) response.setHeader('WWW-Authenticate', 'Bearer')
    if (status === 503) response.setHeader('Retry-After', 1)
    this.#answers.json(response, status, text, this.#guards.corsHeaders(request))
  }

  /** Rejects a call while the server stops. It was not executed, so the client may send it to another server. */
  rejectShuttingDown(request: HttpRequest, response: HttpResponse, caller: Caller): void {
    response.setHeader('Connection', 'close')
    const message = 'This server is stopping and takes no more calls. Nothing was done; try again.'
    this.deny(request, response, caller, { status: 503, message })
  }

  /** Answers a health check or `/metrics`. */
  report(request: HttpRequest, response: HttpResponse, { status, type, text }: ProbeAnswer): void {
    if (request.method === 'GET' || request.method === 'HEAD')
      response
        .writeHead(status, {
          'Content-Type': type,
          'Cache-Control': 'no-store',
          ...(status === 503 && { 'Retry-After': '1' }),
        })
        .end(text)
    else this.deny(request, response, null, { status: 405, message: 'Ask for this with GET.' })
  }

  /** Answers a CORS preflight: what pages of this Origin may send. */
  preflight(request: HttpRequest, response: HttpResponse): void {
    const cors = this.#guards.corsHeaders(request)
    if (cors === undefined) {
      this.deny(request, response, null, { status: 403, message: 'Pages of that Origin may not call this server.' })
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
