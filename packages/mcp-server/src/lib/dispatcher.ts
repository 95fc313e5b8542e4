import {
  ENVELOPE,
  type JsonObject,
  WIRE_ERROR_NUMBERS,
  WireError,
  type WireErrorCode,
  wireErrorCodeOf,
} from '@episodic/protocol'
import { advertise, type Identity, identify } from './advertise.ts'
import type { Caller } from './caller.ts'
import { assertSpoken, readEnvelope } from './envelope.ts'
import { conceal, type ErrorHearer } from './faults.ts'
import { randomText } from './handles.ts'
import type { Host } from './host.ts'
import { type Answer, scanAnswer } from './leak-scan.ts'
import { isLong, parseMessage } from './parse-message.ts'
import { answerRequest, idOf, isObject } from './requests.ts'
import { discover } from './sdk-discovery.ts'
import { Turns } from './turns.ts'

/** What goes back for one message. */
export interface Reply {
  /** JSON-RPC text; `null` for a notification, which gets no answer. */
  readonly text: string | null
  /** The refusal that the text carries; `null` for a result. A door may give it a status of its own. */
  readonly refusal: WireErrorCode | null
  /** Seconds after which to try again, where the refusal says so. */
  readonly retryAfter?: number
}

/** Turns messages of a caller into bytes: every door ends here, and nothing else reaches a session. */
export interface Dispatcher {
  readonly host: Host
  /**
   * Parses the text of one message. A long one waits for a turn of the event loop of its own, so that however many
   * come at once, a short one is held up by one of them alone. Rejects with `parse-error` and `invalid-request`.
   */
  read(text: string): Promise<unknown>
  /** Never rejects: what goes wrong is a reply, and what is nobody's business is in the log under a reference. */
  dispatch(caller: Caller, message: unknown, options?: { readonly signal?: AbortSignal | undefined }): Promise<Reply>
  /** The reply for what went wrong before there was a message: whatever is not a `WireError` becomes `internal`. */
  refuse(error: unknown, id?: string | number | null): Reply
}

export interface DispatcherOptions {
  /** Hears of what reached a caller as `internal`, and of what a store said where a caller heard that it is unavailable. */
  readonly onError?: ErrorHearer
}

/** Every answer says its request's id again. */
const MAX_ID = 256

export function createDispatcher(host: Host, { onError = () => {} }: DispatcherOptions = {}): Dispatcher {
  const refuse = (cause: unknown, id: string | number | null = null): Reply => {
    const error = WireError.is(cause) ? cause : conceal(cause, onError)
    const { code, message, details } = error
    if (code === 'store-unavailable') onError({ reference: randomText(), cause: error.cause })
    const body = { code: WIRE_ERROR_NUMBERS[code], message, data: { code, ...details } }
    const text = JSON.stringify({ jsonrpc: '2.0', id, error: body })
    const { retryAfterSeconds: retryAfter } = details
    return { text, refusal: code, ...(typeof retryAfter === 'number' && { retryAfter }) }
  }
  const turns = new Turns()
  return {
    host,
    refuse,
    async read(text) {
      if (isLong(text)) await turns.next()
      return parseMessage(text)
    },
    async dispatch(caller, message, options) {
      if (!isRequestShaped(message))
        return refuse(
          new WireError(
            'invalid-request',
            'This is not a JSON-RPC 2.0 message: it needs "jsonrpc": "2.0" and a method. Messages come one by one, not in batches.',
          ),
          answerableId(message),
        )
      const { id, method, params } = message
      // A notification asks for nothing, and none of them concerns a session.
      if (id === undefined) return { text: null, refusal: null }
      if (typeof id === 'string' ? id.length > MAX_ID : !Number.isSafeInteger(id))
        return refuse(
          new WireError(
            'invalid-request',
            `The id of a request is a string of at most ${MAX_ID} characters, or a whole number.`,
          ),
        )
      let answer: Answer | null = null
      let reply: Reply
      try {
        // Who calls from this process may hand over anything too, so what comes is looked at where all doors meet.
        const given = (params === undefined ? {} : params) as JsonObject
        const modern = isModern(caller, method, given)
        answer = (await answerRequest(host, caller, method, given, options)) ?? null
        if (answer) {
          const result = modern ? completed(answer.result as JsonObject, await identify(host, caller)) : answer.result
          reply = { text: JSON.stringify({ jsonrpc: '2.0', id, result }), refusal: null }
        } else {
          const asked = { jsonrpc: '2.0', id, method, params }
          reply = replyOf(await (modern ? discoverLater : discover)(await advertise(host, caller), asked))
        }
      } catch (error) {
        reply = refuse(error, id as string | number)
      }
      try {
        const looking = scanAnswer(host, caller, message, reply.text as string, answer)
        if (looking) await looking
        return reply
      } catch (error) {
        return refuse(error, id as string | number)
      }
    },
  }
}

/**
 * Whether a request is one of the modern era, in which an answer says that it is complete and who gives it. A world that
 * comes with a transport session is played in the era before, which is all that such a door offers. Throws what
 * `readEnvelope` and `assertSpoken` throw.
 */
function isModern(caller: Caller, method: string, params: unknown): boolean {
  if (caller.door === 'agent' && caller.world.by === 'transport') return false
  const version = readEnvelope(method, params)
  if (version === null) return false
  assertSpoken(version)
  return true
}

/** The result of the modern era that says the same. */
function completed(result: JsonObject, server: Identity): JsonObject {
  return {
    ...result,
    resultType: 'complete',
    _meta: { ...(result._meta as JsonObject | undefined), [ENVELOPE.server]: { ...server } },
  }
}

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
  const id = isObject(message) && typeof message.method === 'string' ? idOf(message) : null
  return typeof id === 'string' && id.length > MAX_ID ? null : id
}

function isRequestShaped(message: unknown): message is { id?: unknown; method: string; params?: unknown } & JsonObject {
  return isObject(message) && message.jsonrpc === '2.0' && typeof message.method === 'string'
}
