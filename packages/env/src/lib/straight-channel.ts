import { type Channel, type JsonObject, WireError, wireErrorCodeOf } from '@episodic/protocol'
import { type Dispatcher, request } from 'undici'
import { EnvError } from './env-error.ts'

export interface StraightChannelOptions {
  readonly url: string
  readonly dispatcher: Dispatcher
  readonly headers: Readonly<Record<string, string>>
  /** Milliseconds until a call without an answer fails. */
  readonly timeout: number
}

/**
 * The straight path to a server of ours over HTTP: one POST a call, JSON in and JSON out.
 *
 * An episode is thousands of such calls, and an SDK client spends several times the call itself on each. Discovery
 * and negotiation still go through the SDK, before this channel is made.
 */
export function createStraightChannel(options: StraightChannelOptions): Omit<Channel, 'close'> {
  const { url, dispatcher, timeout } = options
  const headers = {
    ...options.headers,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  }
  let nextId = 1
  return {
    async request(method, params, { signal } = {}) {
      const id = nextId++
      const { status, text, retryAfter } = await post(JSON.stringify({ jsonrpc: '2.0', id, method, params }), signal)
      const message = parse(text)
      if (message && isRpcError(message.error)) {
        // What failed before the request was read is answered to nobody in particular.
        if (message.id === id || message.id === null) throw refusal(message.error, failureDetails(status, retryAfter))
      } else if (message?.id === id && message.result !== undefined) return message.result
      if (status >= 200 && status < 300)
        throw new EnvError('reply-malformed', `The server's answer to ${method} is not a JSON-RPC answer to it.`)
      throw new EnvError('connection-failed', `${url} answered ${method} with HTTP status ${status}.`, {
        details: failureDetails(status, retryAfter),
      })
    },
  }

  async function post(body: string, signal: AbortSignal | undefined): Promise<HttpAnswer> {
    try {
      const response = await request(url, {
        method: 'POST',
        headers,
        body,
        dispatcher,
        headersTimeout: timeout,
        bodyTimeout: timeout,
        signal: signal ?? null,
      })
      const { 'retry-after': retryAfter } = response.headers
      return { status: response.statusCode, text: await response.body.text(), retryAfter: Number(retryAfter) || 0 }
    } catch (cause) {
      signal?.throwIfAborted()
      throw new EnvError('connection-failed', `No answer from ${url}: ${(cause as Error).message}`, { cause })
    }
  }
}

interface HttpAnswer {
  readonly status: number
  readonly text: string
  /** Seconds; 0 where the server names none. */
  readonly retryAfter: number
}

interface ReplyMessage {
  readonly id?: unknown
  readonly result?: unknown
  readonly error?: unknown
}

interface RpcError {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

function parse(text: string): ReplyMessage | null {
  try {
    const message: unknown = JSON.parse(text)
    return typeof message === 'object' ? message : null
  } catch {
    return null
  }
}

function isRpcError(error: unknown): error is RpcError {
  const { code, message } = (error ?? {}) as Partial<RpcError>
  return typeof code === 'number' && typeof message === 'string'
}

/**
 * An error answer of a server: ours keeps its code, another's is a failure of the connection. `failure` is what is known
 * of it besides.
 */
export function refusal({ code, message, data }: RpcError, failure: JsonObject = { retryable: false }): Error {
  const known = wireErrorCodeOf(code)
  const details = typeof data === 'object' && data !== null ? (data as JsonObject) : {}
  return known
    ? new WireError(known, message, { details })
    : new EnvError('connection-failed', `The server refused: ${message} (${code})`, { details: failure })
}

/** Who answers so in place of a server that is starting, stopping or behind a gateway that cannot reach it. */
const AWAY: ReadonlySet<number> = new Set([502, 503, 504])

/** What a caller should know of a failure over HTTP: whether the same call may get an answer later, and when. */
export function failureDetails(status: number, retryAfter = 0): JsonObject {
  return { retryable: AWAY.has(status), ...(retryAfter > 0 && { retryAfterSeconds: retryAfter }) }
}
