import type { Channel, JsonObject } from '@episodic/protocol'
import { onAbort } from '@episodic/protocol/internal'
import { type Dispatcher, request } from 'undici'
import { callWithInput, questionsAllowed } from '../calls/input-required.ts'
import { capabilitiesOf, repeatedIn, withSender } from '../calls/modern-request.ts'
import { isRpcError, parseAnswer, type RpcAnswer, refusal } from '../calls/rpc-answer.ts'
import { ToolHeaders } from '../calls/tool-headers.ts'
import { type Authorizer, type Refused, sendAuthorized } from '../login/authorized.ts'
import { noAnswer } from '../mcp-error.ts'
import type { ChannelOptions } from '../target.ts'
import { failureDetails, socketFailure, statusFailure } from './http-failure.ts'

export interface DirectChannelOptions extends Pick<ChannelOptions, 'onMessage' | 'elicit' | 'questions'> {
  readonly url: string
  readonly dispatcher: Dispatcher
  readonly headers: Readonly<Record<string, string>>
  /** Milliseconds until a call without an answer fails. */
  readonly timeout: number
  /** Whether requests name their sender, as the stateless version requires. */
  readonly modern?: boolean
  /** Logs in when the server asks for it. */
  readonly authorizer?: Authorizer | undefined
}

/**
 * Creates a channel that sends each call as one HTTP POST: to our own servers, or to any server with the stateless
 * version.
 *
 * A run makes thousands of such calls, and the overhead of an SDK client is several times the cost of a call.
 */
export function createDirectChannel(options: DirectChannelOptions): Omit<Channel, 'close'> {
  const { url, dispatcher, timeout, modern = false, onMessage, elicit, authorizer } = options
  const questions = questionsAllowed(options.questions)
  const headers = {
    ...options.headers,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  }
  const tools = new ToolHeaders()
  const capabilities = capabilitiesOf(elicit)
  let nextId = 1
  return {
    request(method, params, { signal } = {}) {
      const call = (sent: JsonObject) => ask(method, sent, signal)
      return modern ? callWithInput(call, params, { elicit, questions, signal }) : call(params)
    },
  }

  async function ask(method: string, params: JsonObject, signal: AbortSignal | undefined): Promise<unknown> {
    const id = nextId++
    const sent = { jsonrpc: '2.0', id, method, params: modern ? withSender(params, capabilities) : params }
    onMessage?.('sent', sent)
    const repeated = modern
      ? {
          ...headers,
          ...repeatedIn(method, params),
          ...(method === 'tools/call' && tools.for(params.name, params.arguments)),
        }
      : headers
    const { status, messages, retryAfter, text } = await post(JSON.stringify(sent), repeated, signal)
    if (onMessage) for (const message of messages) onMessage('received', message)
    const message = messages.at(-1)
    if (message && isRpcError(message.error)) {
      // The id is `null` if the server could not read the request.
      if (message.id === id || message.id === null) throw refusal(message.error, failureDetails(status, retryAfter))
    } else if (message?.id === id && message.result !== undefined) {
      return modern && method === 'tools/list' ? callableTools(tools, message.result) : message.result
    }
    if (status >= 200 && status < 300)
      throw noAnswer('malformed', url, { why: `what it answered to ${method} is not a JSON-RPC answer to it` })
    throw statusFailure(url, { status, retryAfter, text })
  }

  function post(
    body: string,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal | undefined,
  ): Promise<HttpAnswer> {
    return sendAuthorized(
      authorizer,
      (shown) => postOnce(body, { ...headers, ...shown }, signal),
      (answer) => answer,
      signal,
    )
  }

  async function postOnce(
    body: string,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal | undefined,
  ): Promise<HttpAnswer> {
    try {
      const response = await request(url, {
        method: 'POST',
        headers,
        body,
        dispatcher,
        headersTimeout: timeout,
        bodyTimeout: timeout,
        signal: signal ? (new SharedSignal(signal) as unknown as AbortSignal) : null,
      })
      const { 'retry-after': retryAfter, 'content-type': type, 'www-authenticate': challenge = '' } = response.headers
      const text = await response.body.text()
      const messages = String(type).startsWith('text/event-stream') ? parseEvents(text) : [parseAnswer(text)]
      return {
        status: response.statusCode,
        messages,
        text,
        retryAfter: Number(retryAfter) || 0,
        challenge: String(challenge),
      }
    } catch (cause) {
      signal?.throwIfAborted()
      throw socketFailure(url, cause)
    }
  }
}

/** The parts of a signal that undici uses. It adds a listener for each call; {@link onAbort} does so at less cost. */
class SharedSignal {
  readonly aborted: boolean
  readonly #signal: AbortSignal
  #stop: (() => void) | null = null

  constructor(signal: AbortSignal) {
    this.aborted = signal.aborted
    this.#signal = signal
  }

  get reason(): unknown {
    return this.#signal.reason
  }

  addEventListener(_: 'abort', listener: () => void): void {
    this.#stop = onAbort(this.#signal, listener)
  }

  removeEventListener(): void {
    this.#stop?.()
  }
}

function callableTools(tools: ToolHeaders, result: unknown): unknown {
  const { tools: listed } = result as { tools?: unknown }
  return Array.isArray(listed) ? { ...(result as object), tools: tools.keep(listed) } : result
}

interface HttpAnswer extends Omit<Refused, 'headers'> {
  /** The messages, the answer last; `null` for one that is not an object. */
  readonly messages: readonly (RpcAnswer | null)[]
  readonly text: string
  /** Seconds; 0 if the server names none. */
  readonly retryAfter: number
}

/** Returns the messages of a complete event stream: notifications, then the answer. */
function parseEvents(text: string): (RpcAnswer | null)[] {
  const events = text.split(/\r?\n\r?\n/).map((event) => event.match(/^data: ?.*$/gm) ?? [])
  return events
    .filter((data) => data.length > 0)
    .map((data) => parseAnswer(data.map((line) => line.replace(/^data: ?/, '')).join('\n')))
}
