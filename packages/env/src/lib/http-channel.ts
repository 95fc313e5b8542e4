import { type Channel, type JsonObject, WireError, wireErrorCodeOf } from '@episodic/protocol'
import { type Dispatcher, request } from 'undici'
import { EnvError } from './env-error.ts'

export interface HttpChannelOptions {
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
export function createHttpChannel({ url, dispatcher, headers, timeout }: HttpChannelOptions): Omit<Channel, 'close'> {
  const sent = { ...headers, 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  let nextId = 1
  return {
    async request(method, params, { signal } = {}) {
      const id = nextId++
      const { statusCode, body } = await post(JSON.stringify({ jsonrpc: '2.0', id, method, params }), signal)
      const message = parse(body)
      if (message?.error) throw refusal(message.error)
      if (message?.id === id && message.result !== undefined) return message.result
      if (statusCode >= 200 && statusCode < 300)
        throw new EnvError('reply-malformed', `The server's answer to ${method} is not a JSON-RPC answer to it.`)
      throw new EnvError('connection-failed', `${url} answered ${method} with HTTP status ${statusCode}.`)
    },
  }

  async function post(body: string, signal: AbortSignal | undefined): Promise<{ statusCode: number; body: string }> {
    try {
      const response = await request(url, {
        method: 'POST',
        headers: sent,
        body,
        dispatcher,
        headersTimeout: timeout,
        bodyTimeout: timeout,
        signal: signal ?? null,
      })
      return { statusCode: response.statusCode, body: await response.body.text() }
    } catch (cause) {
      signal?.throwIfAborted()
      throw new EnvError('connection-failed', `No answer from ${url}: ${(cause as Error).message}`, { cause })
    }
  }
}

interface ReplyMessage {
  readonly id?: unknown
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string; readonly data?: JsonObject }
}

function parse(text: string): ReplyMessage | null {
  try {
    const message = JSON.parse(text)
    return typeof message === 'object' ? message : null
  } catch {
    return null
  }
}

/** An error answer of a server: ours keeps its code, another's is a failure of the connection. */
export function refusal({ code, message, data }: NonNullable<ReplyMessage['error']>): Error {
  const known = wireErrorCodeOf(code)
  return known
    ? new WireError(known, message, { details: data ?? {} })
    : new EnvError('connection-failed', `The server refused: ${message} (${code})`)
}
