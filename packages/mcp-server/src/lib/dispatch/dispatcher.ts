import { type JsonObject, WireError, type WireErrorCode } from '@episodic/protocol'
import { ENVELOPE, findWireErrorCode, WIRE_ERROR_NUMBERS } from '@episodic/protocol/internal'
import { type Tracer, trace } from '@opentelemetry/api'
import type { Caller } from '../host/access/caller.ts'
import { randomText } from '../host/access/session-tokens.ts'
import type { Host, SessionRef } from '../host/host.ts'
import { type OnError, toInternalError } from '../host/operate/faults.ts'
import type { ClientChannel } from './client-channel.ts'
import { answerRequest, resolveCaller } from './handle-request.ts'
import { isLong, MESSAGE_BOUNDS, ParseQueue, parseBounded, TRAINER_BOUNDS } from './json-bounds.ts'
import { type ScannedAnswer, scanAnswer } from './leak-scan.ts'
import { isStateless, type Message, type RequestId, readEnvelope, readMessage } from './message.ts'
import { PendingCall, type PendingCallOptions } from './pending-call.ts'
import { type Advertisement, advertise, type Identity, identify } from './server-info.ts'
import { followTools, listen, subscribe, unsubscribe } from './subscriptions.ts'
import { type TraceHeaders, traceCall } from './trace-call.ts'

export interface Reply {
  /** JSON-RPC text; `null` for a notification and for a cancelled request, which get no answer. */
  readonly text: string | null
  /** The code of the error in the text; `null` for a result. HTTP maps it to a status. */
  readonly refusal: WireErrorCode | null
  /** Seconds after which to try again, if the error has them. */
  readonly retryAfter?: number
  /** The answer follows later on the same channel: the request is a subscription. */
  readonly open?: true
}

/** What an endpoint can do for a message besides answering it. Functions are called only if the message needs them. */
export interface DispatchOptions extends PendingCallOptions {
  /** The channel of the same client. Without it, the client can neither cancel nor subscribe. */
  readonly channel?: (() => ClientChannel) | undefined
  readonly session?: SessionRef | undefined
  /** Whether the message is of the stateless version; see {@link isStateless}. Default: its `_meta` decides. */
  readonly modern?: boolean | undefined
  readonly headers?: TraceHeaders | undefined
}

/** Answers JSON-RPC messages as text. Every transport uses it, and nothing else reaches a session. */
export type Dispatcher = ReturnType<typeof createDispatcher>

export interface DispatcherOptions {
  /** Called with the cause of each `internal` and `store-unavailable` error that a caller received. */
  readonly onError?: OnError
}

export function createDispatcher(host: Host, { onError = () => {} }: DispatcherOptions = {}) {
  const toolsChange = host.environments.some(({ offers }) => offers)
  const refuse = (cause: unknown, id: RequestId | null = null): Reply => {
    const error = WireError.is(cause) ? cause : toInternalError(cause, onError)
    const { code, message, details } = error
    if (code === 'store-unavailable') onError({ reference: randomText(), cause: error.cause })
    const body = { code: WIRE_ERROR_NUMBERS[code], message, data: { code, ...details } }
    const text = JSON.stringify({ jsonrpc: '2.0', id, error: body })
    const { retryAfterSeconds: retryAfter } = details
    return { text, refusal: code, ...(typeof retryAfter === 'number' && { retryAfter }) }
  }
  const answerMessage = async (caller: Caller, message: Request, options: DispatchOptions): Promise<Reply> => {
    const { id, method, params } = message
    let session: SessionRef | null = null
    let answer: ScannedAnswer | null = null
    let reply: Reply
    let waiting: PendingCall | undefined
    try {
      const { modern = decideVersion(caller, message) } = options
      const resolving = options.session ?? resolveCaller(host, caller)
      session = resolving instanceof Promise ? await resolving : resolving
      if (method === 'tools/call') waiting = new PendingCall(message, modern, options)
      // A signal costs as much as a small call, and only methods of trainers always need theirs.
      const signal = caller.endpoint === 'trainer' && !waiting ? options.signal : undefined
      answer = (await answerRequest(host, caller, session, message, { signal, waiting })) ?? null
      const listening = answer ? null : await answerListening(host, caller, session, message, modern, options)
      if (listening) reply = listening
      else if (answer) {
        const result = modern ? completed(method, answer.result, await identify(host, caller, session)) : answer.result
        reply = { text: JSON.stringify({ jsonrpc: '2.0', id, result }), refusal: null }
      } else {
        const asked = { jsonrpc: '2.0', id, method, params }
        const advertisement = await advertise(host, caller, session, method)
        reply = replyOf(await discover(advertisement, asked, modern))
        const { presented } = advertisement
        if (presented) answer = { result: null, secrets: presented.secrets, worldText: () => presented.observation }
      }
      if (toolsChange && session && !modern && method.startsWith('tools/') && options.channel)
        await followTools(session, options.channel(), method === 'tools/call')
    } catch (error) {
      // A cancelled call gets no answer.
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
    /** Returns the reply for an error before there was a message. What is not a `WireError` becomes `internal`. */
    refuse,
    /**
     * Parses the text of one message. Long texts are parsed one per turn of the event loop, so that a short message
     * waits for one of them at most. `from` says who sends it: a trainer may send more than an agent, which is the
     * default. Throws, or rejects with, `parse-error` and `invalid-request`.
     */
    read(text: string, from?: Caller['endpoint']): Message | Promise<Message> {
      const bounds = from === 'trainer' ? TRAINER_BOUNDS : MESSAGE_BOUNDS
      const parse = () => readMessage(parseBounded(text, 'message', bounds))
      return isLong(text) ? turns.next().then(parse) : readMessage(parseBounded(text, 'message', bounds))
    },
    /** Never rejects: an error becomes a reply. The cause of an internal error goes to `onError`, under a reference. */
    dispatch(caller: Caller, message: Message, options: DispatchOptions = {}): Promise<Reply> {
      const { id, method, params, problem } = message
      if (problem) return Promise.resolve(refuse(problem, id))
      // A notification gets no answer. Only a cancellation has an effect.
      if (id === undefined) {
        if (method === 'notifications/cancelled') options.channel?.().callOff(params.requestId)
        return Promise.resolve(NOTHING)
      }
      const tracer = method === 'tools/call' ? findTracer() : undefined
      return tracer
        ? traceCall(tracer, message, options.headers, () => answerMessage(caller, message as Request, options))
        : answerMessage(caller, message as Request, options)
    },
  }
}

/** Returns the tracer of the registered provider, if there is one. The API's own no-op spans are not free. */
function findTracer(): Tracer | undefined {
  const provider = trace.getTracerProvider() as { getDelegateTracer?(name: string): Tracer | undefined }
  return provider.getDelegateTracer?.('@episodic/mcp-server')
}

interface Request extends Message {
  readonly id: RequestId
}

function decideVersion(caller: Caller, message: Message): boolean {
  // Such a caller is answered in the session-based version whatever its `_meta` says, so nothing is read from there.
  if (caller.endpoint === 'agent' && caller.address.by === 'transport') return false
  return isStateless(caller, readEnvelope(message))
}

function completed(method: string, answer: unknown, { name, version }: Identity): JsonObject {
  const result = answer as JsonObject
  return {
    resultType: 'complete',
    ...result,
    ...(method === 'resources/read' && UNCACHED),
    _meta: { ...(result._meta as JsonObject | undefined), [ENVELOPE.server]: { name, version } },
  }
}

/** The next step may change the state, and no other client may see it. */
const UNCACHED = { ttlMs: 0, cacheScope: 'private' } as const

async function answerListening(
  host: Host,
  caller: Caller,
  session: SessionRef | null,
  { id, method, params }: Request,
  modern: boolean,
  { channel, say }: DispatchOptions,
): Promise<Reply | null> {
  if (caller.endpoint !== 'agent' || LISTENING[method] !== modern || !channel) return null
  const replied = (result: unknown): Reply => ({ text: JSON.stringify({ jsonrpc: '2.0', id, result }), refusal: null })
  const asker = { host, caller, session }
  if (method === 'resources/subscribe') return replied(await subscribe(asker, channel, params))
  if (method === 'resources/unsubscribe') return replied(unsubscribe(channel, params))
  if (!say) return null
  const server = await identify(host, caller, session)
  const listening = { channel, say, completed: (result: JsonObject) => completed(method, result, server) }
  const result = await listen(asker, { id, params }, listening)
  return result ? replied(result) : OPEN
}

/** The methods that start and end subscriptions, and whether they belong to the stateless version. */
const LISTENING: { readonly [method: string]: boolean } = {
  'resources/subscribe': false,
  'resources/unsubscribe': false,
  'subscriptions/listen': true,
}

const NOTHING: Reply = { text: null, refusal: null }
const OPEN: Reply = { text: null, refusal: null, open: true }

/** The SDK takes a tenth of a second to load, so it is loaded with the first request that needs it. */
async function discover(advertisement: Advertisement, request: object, modern: boolean): Promise<object> {
  return (await import('./sdk-discovery.ts')).discover(advertisement, request, modern)
}

function replyOf(answer: object): Reply {
  const refusal = 'error' in answer ? (findWireErrorCode((answer.error as { code: number }).code) ?? 'internal') : null
  return { text: JSON.stringify(answer), refusal }
}
