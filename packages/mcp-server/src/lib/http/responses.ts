import type { WireErrorCode } from '@episodic/protocol'
import type { Reply } from '../dispatch/dispatcher.ts'
import type { Caller, Rejection } from '../host/access/caller.ts'
import { tooManyCalls } from './authorize.ts'
import { EventStream } from './event-streams.ts'
import type { HttpRequest } from './fast-path/connection.ts'
import type { HttpResponse } from './fast-path/response.ts'
import type { ProbeAnswer } from './health.ts'
import type { Denial, Guards } from './host-origin-check.ts'
import { takesOnlyEvents } from './post-rules.ts'

/** Writes responses with their CORS headers, and reports every rejected request. */
export function createReplies(guards: Guards, onRejected: (rejection: Rejection) => void) {
  const answers = new Answers()
  return {
    /** Answers a message: as JSON, or as one event to a client that accepts nothing else. `modern`: stateless. */
    answer(
      request: HttpRequest,
      response: HttpResponse,
      caller: Caller,
      { text, refusal, retryAfter }: Reply,
      modern = false,
      status = statusOf(refusal, caller.endpoint, modern),
    ): void {
      const cors = guards.corsHeaders(request)
      if (refusal !== null) onRejected({ endpoint: caller.endpoint, principal: caller.principal, code: refusal })
      if (text === null) {
        response.writeHead(202, cors).end()
        return
      }
      if (retryAfter !== undefined && status !== 200) response.setHeader('Retry-After', Math.ceil(retryAfter))
      else if (status === 503) response.setHeader('Retry-After', 1)
      if (status === 200 && takesOnlyEvents(request)) {
        const stream = new EventStream(response, () => cors)
        stream.begin()
        stream.end(text)
      } else answers.json(response, status, text, cors)
    },
    conclude(stream: EventStream, caller: Caller, { text, refusal, open }: Reply): void {
      if (refusal !== null) onRejected({ endpoint: caller.endpoint, principal: caller.principal, code: refusal })
      if (!open) stream.end(text)
    },
    deny,
    /** Rejects a call while the server stops. It was not executed, so the client may send it to another server. */
    rejectShuttingDown(request: HttpRequest, response: HttpResponse, caller: Caller): void {
      response.setHeader('Connection', 'close')
      const message = 'This server is stopping and takes no more calls. Nothing was done; try again.'
      deny(request, response, caller, { status: 503, message })
    },
    rejectTooMany(request: HttpRequest, response: HttpResponse, caller: Caller, seconds: number): void {
      response.setHeader('Retry-After', seconds)
      deny(request, response, caller, { status: 429, message: tooManyCalls(seconds) })
    },
    /** Answers a GET with a text: a health check, `/metrics`, or a page for clients that have not connected yet. */
    report(request: HttpRequest, response: HttpResponse, { status, type, text }: ProbeAnswer): void {
      const headers = {
        'Content-Type': type,
        'Cache-Control': 'no-store',
        ...(status === 503 && { 'Retry-After': '1' }),
      }
      if (request.method === 'GET' || request.method === 'HEAD') response.writeHead(status, headers).end(text)
      else deny(request, response, null, { status: 405, message: 'Ask for this with GET.' })
    },
    preflight(request: HttpRequest, response: HttpResponse): void {
      const cors = guards.corsHeaders(request)
      if (cors === undefined) {
        deny(request, response, null, { status: 403, message: 'Pages of that Origin may not call this server.' })
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
    },
  }

  function deny(
    request: HttpRequest,
    response: HttpResponse,
    caller: Pick<Caller, 'endpoint' | 'principal'> | null,
    { status, message }: Denial,
  ): void {
    const { endpoint, principal } = caller ?? { endpoint: null, principal: null }
    onRejected({ endpoint, principal, code: `http-${status}` })
    const text = JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32000, message } })
    if (status === 401) response.setHeader('WWW-Authenticate', 'Bearer')
    if (status === 503) response.setHeader('Retry-After', 1)
    answers.json(response, status, text, guards.corsHeaders(request))
  }
}

/** Writes the answers of a turn of the event loop together: a client with many calls then wakes once for all. */
export class Answers {
  #waiting: (() => void)[] = []

  json(response: HttpResponse, status: number, text: string, headers?: Readonly<Record<string, string>>): void {
    const bytes = Buffer.byteLength(text)
    const write = () => {
      try {
        response
          .writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': bytes, ...headers })
          // ASCII is the same in both encodings, and Node writes latin1 without converting it.
          .end(text, bytes === text.length ? 'latin1' : 'utf8')
      } catch {
        // An answer that cannot be written ends its own connection, and not the other answers of the turn.
        response.destroy()
      }
    }
    if (this.#waiting.push(write) === 1) setImmediate(() => this.#flush())
  }

  #flush(): void {
    const writes = this.#waiting
    this.#waiting = []
    for (const write of writes) write()
  }
}

const STATUS: Partial<Record<WireErrorCode, number>> = {
  'parse-error': 400,
  'invalid-request': 400,
  'session-not-found': 404,
  'too-large': 413,
  'rate-limited': 429,
  capacity: 503,
  'store-unavailable': 503,
}

const MODERN_STATUS: Partial<Record<WireErrorCode, number>> = {
  'method-not-found': 404,
  'header-mismatch': 400,
  'unsupported-version': 400,
}

/** Returns 200 for most errors at the trainer endpoint; at the agent endpoint plain clients need the status. */
function statusOf(refusal: WireErrorCode | null, endpoint: Caller['endpoint'], modern: boolean): number {
  if (modern && refusal !== null && MODERN_STATUS[refusal]) return MODERN_STATUS[refusal]
  if (refusal === null || (endpoint === 'trainer' && refusal !== 'too-large')) return 200
  return STATUS[refusal] ?? 200
}
