import type { HttpRequest, HttpResponse } from '@episodic/mcp-server/http'
import type { JsonObject } from '@episodic/protocol'
import { HarnessError } from '../base/harness-error.ts'
import { chatCompletions } from './chat-completions.ts'
import { BadRequest, type Dialect, type ServerSentEvent } from './dialect.ts'
import { Refused } from './engine.ts'
import type { GatewaySession } from './gateway-session.ts'
import { generateContent } from './generate-content.ts'
import { messages } from './messages.ts'
import { responses } from './responses.ts'

/** Milliseconds after which an agent that waits for a stream gets a comment, so that nothing between gives it up. */
const KEEP_ALIVE = 15_000

/** A request in one of the APIs. */
export interface ReadCall {
  readonly dialect: Dialect
  /** Below the root of the API. */
  readonly path: string
  /** Whether it only wants to know how long its prompt is. */
  readonly counts: boolean
}

const DIALECTS: readonly (readonly [path: RegExp, dialect: Dialect])[] = [
  [/^chat\/completions$/, chatCompletions],
  [/^responses$/, responses],
  [/^messages(\/count_tokens)?$/, messages],
  [/^models\/[^/]+:(generateContent|streamGenerateContent|countTokens)$/, generateContent],
]

/** Returns the API of a path, with or without its version; `null` if it is of none. */
export function findDialect(pathname: string): ReadCall | null {
  const path = pathname
    .replace(/^\/+/, '')
    .replace(/^v\d\w*\//, '')
    .replace(/\/+$/, '')
  const found = DIALECTS.find(([pattern]) => pattern.test(path))
  return found ? { dialect: found[1], path, counts: /count_?tokens$/i.test(path) } : null
}

/** Answers a request of an agent in the API that it speaks. */
export async function serveCall(
  { dialect, path, counts }: ReadCall,
  body: JsonObject,
  session: GatewaySession,
  incoming: HttpRequest,
  response: HttpResponse,
): Promise<void> {
  try {
    if (counts) return sendJson(response, 200, countOf(body))
    const { chat, isStreamed } = dialect.readRequest(body, path)
    const call = session.ask(chat, Number(incoming.headers['x-stainless-retry-count'] ?? 0) > 0)
    response.on('close', () => call.end(response.writableFinished))
    const beat = isStreamed ? setInterval(() => beginStream(response).write(': \n\n'), KEEP_ALIVE) : undefined
    try {
      const reply = { answer: await call.answer, id: call.id, body }
      if (!isStreamed) return sendJson(response, 200, dialect.toAnswer(reply))
      beginStream(response).end(dialect.toEvents(reply).map(written).join(''))
    } finally {
      clearInterval(beat)
    }
  } catch (error) {
    const { status, message, retryAfter } = failureOf(error)
    const said = dialect.toError(status, message, error instanceof BadRequest ? error.field : undefined)
    if (response.headersSent) response.end(written({ event: 'error', data: said }))
    else sendJson(response, status, said, retryAfter)
  }
}

export function sendJson(response: HttpResponse, status: number, body: object, retryAfter?: string): void {
  const text = JSON.stringify(body)
  response
    .writeHead(status, {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(text),
      ...(retryAfter !== undefined && { 'Retry-After': retryAfter }),
    })
    .end(text)
}

function beginStream(response: HttpResponse): HttpResponse {
  if (!response.headersSent) response.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8' })
  return response
}

function written({ event, data }: ServerSentEvent): string {
  const text = typeof data === 'string' ? data : JSON.stringify(data)
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${text}\n\n`
}

function failureOf(error: unknown): Pick<Refused, 'status' | 'message' | 'retryAfter'> {
  if (error instanceof Refused) return error
  if (error instanceof BadRequest) return { status: 400, message: error.message, retryAfter: undefined }
  if (HarnessError.is(error)) return { status: 500, message: error.message, retryAfter: undefined }
  throw error
}

/** Four characters are about one token: clients ask to know when a conversation gets too long. */
function countOf(body: JsonObject): object {
  const count = Math.ceil(JSON.stringify(body).length / 4)
  return { input_tokens: count, totalTokens: count }
}
