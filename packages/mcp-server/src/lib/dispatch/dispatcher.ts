import { type JsonObject, WireError, type WireErrorCode } from '@episodic/protocol'
import { ENVELOPE, idOf, isObject, WIRE_ERROR_NUMBERS, wireErrorCodeOf } from '@episodic/protocol/extend'
import type { Caller } from '../host/caller.ts'
import { type OnError, toInternalError } from '../host/faults.ts'
import type { Host, SessionRef } from '../host/host.ts'
import { randomText } from '../host/session-tokens.ts'
import type { ClientChannel } from './client-channel.ts'
import { answerRequest, resolveCaller } from './handle-request.ts'
import { type Answer, scanAnswer } from './leak-scan.ts'
import { isLong, parseMessage } from './parse-message.ts'
import { ParseQueue } from './parse-queue.ts'
import { PendingCall, type RequestId } from './pending-call.ts'
import { isStateless, readEnvelope } from './protocol-version.ts'
import { discover } from './sdk-discovery.ts'
import { advertise, type Identity, identify } from './server-info.ts'
import { listen, subscribe, unsubscribe } from './subscriptions.ts'
import { type TraceHeaders, traceCall } from './trace-call.ts'

/** What goes back for one message. */
export interface Reply {
  /** JSON-RPC text; `null` for a notification and for a request that was called off, which get no answer. */
  readonly text: string | null
  /** The refusal that the text carries; `null` for a result. An endpoint may give it a status of its own. */
  readonly refusal: WireErrorCode | null
  /** Seconds after which to try again, where the refusal says so. */
  readonly retryAfter?: number
  /** The answer comes later, on the same channel: the client listens. */
  readonly open?: true
}

/** What an endpoint can do for a message besides answering it. Whatever is asked for here may be made only then. */
export interface DispatchOptions {
  /** Aborted when whoever only waits should stop: the caller is gone, or the server goes. */
  readonly signal?: AbortSignal | undefined
  /** Aborted when the caller is gone. Asked for where that calls a request off, as it does in the modern era over HTTP. */
  readonly gone?: (() => AbortSignal) | undefined
  /** What else goes on with the same client. Without it, a client calls off nothing and listens to nothing. */
  readonly channel?: (() => ClientChannel) | undefined
  /** The session of an agent's address, if the endpoint has resolved it. */
  readonly session?: SessionRef | undefined
  /**
   * Whether the endpoint has found the message to be of the stateless version; see {@link isStateless}. If omitted, its `_meta`
   * decides.
   */
  readonly modern?: boolean | undefined
  /** Says something on the way to the answer. Without it, an answer is all that comes. */
  readonly say?: ((text: string) => void) | undefined
  /** The headers that a message came with, which may name the trace that it belongs to. */
  readonly headers?: TraceHeaders | undefined
}

/** Turns the messages of a caller into bytes: every endpoint ends here, and nothing else reaches a session. */
export interface Dispatcher {
  readonly host: Host
  /**
   * Parses the text of one message. A long one waits for a turn of the event loop of its own, so that however many
   * come at once, a short one is held up by one of them alone. Rejects with `parse-error` and `invalid-request`.
   */
  read(text: string): unknown
  /** Never rejects: what goes wrong is a reply, and what is nobody's business is in the log under a reference. */
  dispatch(caller: Caller, message: unknown, options?: DispatchOptions): Promise<Reply>
  /** The reply for what went wrong before there was a message: whatever is not a `WireError` becomes `internal`. */
  refuse(error: unknown, id?: string | number | null): Reply
}

export interface DispatcherOptions {
  /** Hears of what reached a caller as `internal`, and of what a store said where a caller heard that it is unavailable. */
  readonly onError?: OnError
}

export function createDispatcher(host: Host, { onError = () => {} }: DispatcherOptions = {}): Dispatcher {
  const refuse = (cause: unknown, id: string | number | null = null): Reply => {
    const error = WireError.is(cause) ? cause : toInternalError(cause, onError)
    const { code, message, details } = error
    if (code === 'store-unavailable') onError({ reference: randomText(), cause: error.cause })
    const body = { code: WIRE_ERROR_NUMBERS[code], message, data: { code, ...details } }
    const text = JSON.stringify({ jsonrpc: '2.0', id, error: body })
    const { retryAfterSeconds: retryAfter } = details
    return { text, refusal: code, ...(typeof retryAfter === 'number' && { retryAfter }) }
  }
  const answerMessage = async (caller: Caller, message: Message, options: DispatchOptions): Promise<Reply> => {
    const { id, method, params } = message
    let session: SessionRef | null = null
    let answer: Answer | null = null
    let reply: Reply
    let waiting: PendingCall | undefined
    try {
      // Who calls from this process may hand over anything too, so what comes is looked at where all endpoints meet.
      const given = (params === undefined ? {} : params) as JsonObject
      const { modern = decideVersion(caller, method, given) } = options
      const resolving = options.session ?? resolveCaller(host, caller)
      session = resolving instanceof Promise ? await resolving : resolving
      const request = { id, method, params: given }
      if (method === 'tools/call') waiting = new PendingCall(request, modern, options)
      const { signal } = options
      answer = (await answerRequest(host, caller, session, request, { signal, waiting })) ?? null
      const listening = answer ? null : await answerListening(host, caller, session, request, modern, options)
      if (listening) reply = listening
      else if (answer) {
        const result = modern ? completed(method, answer.result, await identify(host, caller, session)) : answer.result
        reply = { text: JSON.stringify({ jsonrpc: '2.0', id, result }), refusal: null }
      } else {
        const asked = { jsonrpc: '2.0', id, method, params }
        const advertisement = await advertise(host, caller, session, method)
        reply = replyOf(await (modern ? discoverLater : discover)(advertisement, asked))
        const { presented } = advertisement
        if (presented) answer = { result: null, secrets: presented.secrets, worldText: () => presented.observation }
      }
    } catch (error) {
      // Of a call that was called off, no answer is expected.
      if (waiting?.calledOff) return NOTHING
      reply = refuse(error, id)
    } finally {
      waiting?.end()
    }
    if (reply.text === null) return reply
    try {
      scanAnswer(caller, session, message, reply.text, answer)
      return reply
    } catch (error) {
      return refuse(error, id)
    }
  }
  const turns = new ParseQueue()
  return {
    host,
    refuse,
    read(text) {
      return isLong(text) ? turns.next().then(() => parseMessage(text)) : parseMessage(text)
    },
    dispatch(caller, message, options = {}) {
      if (!isRequestShaped(message))
        return Promise.resolve(
          refuse(
            new WireError(
              'invalid-request',
              'This is not a JSON-RPC 2.0 message: it needs "jsonrpc": "2.0" and a method. Messages come one by one, not in batches.',
            ),
            answerableId(message),
          ),
        )
      const { id, method, params } = message
      // A notification asks for nothing, and one alone concerns a session.
      if (id === undefined) {
        if (method === 'notifications/cancelled' && isObject(params)) options.channel?.().callOff(params.requestId)
        return Promise.resolve(NOTHING)
      }
      if (idOf(message) === null)
        return Promise.resolve(
          refuse(
            new WireError(
              'invalid-request',
              `The id of a request is well-formed text of at most 256 characters, or a whole number.`,
            ),
          ),
        )
      const answer = () => answerMessage(caller, message as Message, options)
      return method === 'tools/call' ? traceCall(message, options.headers, answer) : answer()
    },
  }
}

function decideVersion(caller: Caller, method: string, params: JsonObject): boolean {
  // Such a caller is answered in the session-based version whatever its `_meta` says, so nothing is read from there.
  if (caller.endpoint === 'agent' && caller.address.by === 'transport') return false
  return isStateless(caller, readEnvelope(method, params))
}

/** The result of the modern era that says the same. */
function completed(method: string, answer: unknown, server: Identity): JsonObject {
  const result = answer as JsonObject
  return {
    ...result,
    ...(method === 'resources/read' && UNCACHED),
    resultType: 'complete',
    _meta: { ...(result._meta as JsonObject | undefined), [ENVELOPE.server]: { ...server } },
  }
}

/** The next step may change the state of a world, and it is nobody else's. */
const UNCACHED = { ttlMs: 0, cacheScope: 'private' } as const

/** Answers what asks to be told of changes, in the words of either era; `null` for a request that does not. */
async function answerListening(
  host: Host,
  caller: Caller,
  session: SessionRef | null,
  { id, method, params }: { readonly id: RequestId; readonly method: string; readonly params: JsonObject },
  modern: boolean,
  { channel, say }: DispatchOptions,
): Promise<Reply | null> {
  if (caller.endpoint !== 'agent' || LISTENING[method] !== modern || !channel) return null
  const told = (result: unknown): Reply => ({ text: JSON.stringify({ jsonrpc: '2.0', id, result }), refusal: null })
  if (method === 'resources/subscribe') return told(await subscribe(host, caller, session, channel, params))
  if (method === 'resources/unsubscribe') return told(unsubscribe(channel, params))
  if (!say) return null
  const server = await identify(host, caller, session)
  const listening = { channel, say, completed: (result: JsonObject) => completed(method, result, server) }
  const result = await listen(host, caller, session, { id, params }, listening)
  return result ? told(result) : OPEN
}

/** What begins and ends listening, and whether it does so in the modern era. */
const LISTENING: { readonly [method: string]: boolean } = {
  'resources/subscribe': false,
  'resources/unsubscribe': false,
  'subscriptions/listen': true,
}

const NOTHING: Reply = { text: null, refusal: null }
const OPEN: Reply = { text: null, refusal: null, open: true }

/** The SDK of the modern era takes a tenth of a second to load, so it is loaded where somebody speaks that. */
const discoverLater: typeof discover = async (...args) =>
  (await import('./sdk-discovery-modern.ts')).discoverModern(...args)

/** What the SDK answered; it may be a refusal. */
function replyOf(answer: object): Reply {
  const refusal = 'error' in answer ? (wireErrorCodeOf((answer.error as { code: number }).code) ?? 'internal') : null
  return { text: JSON.stringify(answer), refusal }
}

/** The id of what is at least meant to be a request. */
function answerableId(message: unknown): string | number | null {
  return isObject(message) && typeof message.method === 'string' ? idOf(message) : null
}

/** A request that says what it wants, under an id that is fit to be said again. */
interface Message {
  readonly id: RequestId
  readonly method: string
  readonly params?: unknown
}

function isRequestShaped(message: unknown): message is { id?: unknown; method: string; params?: unknown } & JsonObject {
  return isObject(message) && message.jsonrpc === '2.0' && typeof message.method === 'string'
}
