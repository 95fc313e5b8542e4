import type { Reply } from '../dispatch/dispatcher.ts'
import type { Caller, Rejection } from '../host/caller.ts'
import type { Authorizer } from './authorize.ts'
import type { EventStream } from './event-stream.ts'
import type { ProbeAnswer } from './health.ts'
import type { Denial } from './host-origin-check.ts'
import type { HttpRequest, HttpResponse } from './message.ts'
import { statusOf } from './post-rules.ts'
import { Answers } from './write-batch.ts'

/** Writes what requests are answered with, so that a page of an admitted Origin can read it, and tells of every refusal. */
export class Replies {
  readonly #authorizer: Pick<Authorizer, 'corsHeaders'>
  readonly #onRejected: (rejection: Rejection) => void
  readonly #answers = new Answers()

  constructor(admission: Pick<Authorizer, 'corsHeaders'>, onRejected: (rejection: Rejection) => void) {
    this.#authorizer = admission
    this.#onRejected = onRejected
  }

  /** Answers a message with what it came to. */
  answer(
    request: HttpRequest,
    response: HttpResponse,
    caller: Caller,
    { text, refusal, retryAfter }: Reply,
    status = statusOf(refusal, caller.endpoint, false),
  ): void {
    const cors = this.#authorizer.corsHeaders(request)
    if (refusal !== null) this.#onRejected({ endpoint: caller.endpoint, principal: caller.principal, code: refusal })
    if (text === null) {
      response.writeHead(202, cors).end()
      return
    }
    if (retryAfter !== undefined && status !== 200) response.setHeader('Retry-After', Math.ceil(retryAfter))
    else if (status === 503) response.setHeader('Retry-After', 1)
    this.#answers.json(response, status, text, cors)
  }

  /** Ends an answer before which something was said, unless it goes on. */
  conclude(stream: EventStream, caller: Caller, { text, refusal, open }: Reply): void {
    if (refusal !== null) this.#onRejected({ endpoint: caller.endpoint, principal: caller.principal, code: refusal })
    if (!open) stream.end(text)
  }

  /** Answers what was not listened to; `caller` is `null` for whoever came to no endpoint. */
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
    this.#answers.json(response, status, text, this.#authorizer.corsHeaders(request))
  }

  /** Denies what comes while the server goes: it was not taken, and there may be another server soon. */
  rejectShuttingDown(request: HttpRequest, response: HttpResponse, caller: Caller): void {
    response.setHeader('Connection', 'close')
    const message = 'This server is stopping and takes no more calls. Nothing was done; try again.'
    this.deny(request, response, caller, { status: 503, message })
  }

  /** Answers whoever looks after the server. */
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

  /** Tells a browser what pages of its Origin may send. */
  preflight(request: HttpRequest, response: HttpResponse): void {
    const cors = this.#authorizer.corsHeaders(request)
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
