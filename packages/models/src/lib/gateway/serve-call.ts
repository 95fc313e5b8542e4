import type { HttpRequest, HttpResponse } from '@episodic/mcp-server/http'
import type { JsonObject } from '@episodic/protocol'
import { HarnessError } from '@episodic/run/base/harness-error'
import { chatCompletions } from './chat-completions.ts'
import { BadRequest, type Dialect, type ServerSentEvent } from './dialect.ts'
import { Refused } from './engine.ts'
import type { GatewaySession } from './gateway-session.ts'
import { generateContent } from './generate-content.ts'
import { messages } from './messages.ts'
import { responses } from './responses.ts'

/** Milliseconds after which an agent that waits for a stream gets a comment, so that nothing between gives it up. */
const KEEP_ALIVE = 15_000

export interface ReadCall {
  readonly dialect: Dialect
  /** Below the root of the API. */
  readonly path: string
  /** What it asks for: an answer, how long its prompt is, or a list of models or one of them. */
  readonly wants: 'answer' | 'count' | 'models'
  /** Whether a stream is a list of JSON, as Google sends it unless it is asked for events. */
  readonly isList: boolean
}

const DIALECTS: readonly (readonly [path: RegExp, dialect: Dialect])[] = [
  [/^chat\/completions$/, chatCompletions],
  [/^responses$/, responses],
  [/^messages(\/count_tokens)?$/, messages],
  [/^models\/[^/]+:(generateContent|streamGenerateContent|countTokens)$/, generateContent],
]

export function findCall({ method, headers }: HttpRequest, pathname: string, query: URLSearchParams): ReadCall | null {
  const path = pathname
    .replace(/^\/+/, '')
    .replace(/^v\d\w*\//, '')
    .replace(/\/+$/, '')
  if (method === 'GET' || method === 'HEAD') {
    if (!/^models(\/[^:]+)?$/.test(path)) return null
    const isGoogle = /^\/*v\d+[a-z]/.test(pathname) || 'x-goog-api-key' in headers || query.has('key')
    const isAnthropic = 'anthropic-version' in headers || 'x-api-key' in headers
    const dialect = isGoogle ? generateContent : isAnthropic ? messages : chatCompletions
    return { dialect, path, wants: 'models', isList: false }
  }
  const found = method === 'POST' ? DIALECTS.find(([pattern]) => pattern.test(path)) : undefined
  if (!found) return null
  const isList = path.endsWith(':streamGenerateContent') && query.get('alt') !== 'sse'
  return { dialect: found[1], path, wants: /count_?tokens$/i.test(path) ? 'count' : 'answer', isList }
}

/** Answers a request of an agent in the API that it speaks. `body` is its JSON; `{}` for one without a body. */
export async function serveCall(
  { dialect, path, wants, isList }: ReadCall,
  body: JsonObject,
  session: GatewaySession,
  incoming: HttpRequest,
  response: HttpResponse,
): Promise<void> {
  const stream = isList ? JSON_LIST : EVENTS
  try {
    if (wants === 'count') return sendJson(response, 200, countOf(body))
    if (wants === 'models') return sendModels(response, dialect, path, await session.listModels())
    const { chat, isStreamed } = dialect.readRequest(body, path)
    const call = session.ask(chat, Number(incoming.headers['x-stainless-retry-count'] ?? 0) > 0)
    response.on('close', () => call.end(response.writableFinished))
    const beat = isStreamed ? setInterval(() => begin(response, stream).write(stream.beat), KEEP_ALIVE) : undefined
    try {
      const reply = { answer: await call.answer, id: call.id, body }
      if (!isStreamed) return sendJson(response, 200, dialect.toAnswer(reply))
      begin(response, stream).end(stream.written(dialect.toEvents(reply)))
    } finally {
      clearInterval(beat)
    }
  } catch (error) {
    const { status, message, retryAfter } = failureOf(error)
    const said = dialect.toError(status, message, error instanceof BadRequest ? error.field : undefined)
    if (response.headersSent) response.end(stream.written([{ event: 'error', data: said }]))
    else sendJson(response, status, said, retryAfter)
  }
}

interface StreamForm {
  readonly type: string
  /** What is sent while nothing is known, and means nothing. */
  readonly beat: string
  readonly written: (events: readonly ServerSentEvent[]) => string
}

const EVENTS: StreamForm = {
  type: 'text/event-stream; charset=utf-8',
  beat: ': \n\n',
  written: (events) => events.map(writtenEvent).join(''),
}
const JSON_LIST: StreamForm = {
  type: 'application/json',
  beat: ' ',
  written: (events) => JSON.stringify(events.map(({ data }) => data)),
}

function sendModels(response: HttpResponse, dialect: Dialect, path: string, models: readonly string[]): void {
  const asked = decoded(path.slice('models/'.length))
  if (asked !== '' && !models.includes(asked)) throw new Refused(404, 'http', `The engine has no model ${asked}.`)
  sendJson(response, 200, asked === '' ? dialect.toModels(models) : dialect.toModel(asked))
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

function begin(response: HttpResponse, { type }: StreamForm): HttpResponse {
  if (!response.headersSent) response.writeHead(200, { 'Content-Type': type })
  return response
}

function writtenEvent({ event, data }: ServerSentEvent): string {
  const text = typeof data === 'string' ? data : JSON.stringify(data)
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${text}\n\n`
}

export function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
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
