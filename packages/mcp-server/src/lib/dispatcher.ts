import {
  EXTENSION,
  type JsonObject,
  WIRE_ERROR_NUMBERS,
  WIRE_VERSION,
  WireError,
  type WireErrorCode,
  wireErrorCodeOf,
} from '@episodic/protocol'
import { environmentFor } from './agent-requests.ts'
import type { Caller } from './caller.ts'
import { randomText } from './handles.ts'
import type { Host } from './host.ts'
import { answerRequest, isObject } from './requests.ts'
import { type Advertisement, discover } from './sdk-discovery.ts'

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
  /** Never rejects: what goes wrong is a reply, and what is nobody's business is in the log under a reference. */
  dispatch(caller: Caller, message: unknown, options?: { readonly signal?: AbortSignal | undefined }): Promise<Reply>
  /** The reply for what went wrong before there was a message: whatever is not a `WireError` becomes `internal`. */
  refuse(error: unknown, id?: string | number | null): Reply
}

export interface DispatcherOptions {
  /** Hears of what reached a caller as `internal`, and of what a store said where a caller heard that it is unavailable. */
  readonly onError?: (error: { readonly reference: string; readonly cause: unknown }) => void
}

export function createDispatcher(host: Host, { onError = () => {} }: DispatcherOptions = {}): Dispatcher {
  const refuse = (cause: unknown, id: string | number | null = null): Reply => {
    const error = WireError.is(cause) ? cause : concealed(cause, onError)
    const { code, message, details } = error
    if (code === 'store-unavailable') onError({ reference: randomText(), cause: error.cause })
    const body = { code: WIRE_ERROR_NUMBERS[code], message, data: { code, ...details } }
    const text = JSON.stringify({ jsonrpc: '2.0', id, error: body })
    const { retryAfterSeconds: retryAfter } = details
    return { text, refusal: code, ...(typeof retryAfter === 'number' && { retryAfter }) }
  }
  return {
    host,
    refuse,
    async dispatch(caller, message, options) {
      if (!isRequestShaped(message))
        return refuse(
          new WireError(
            'invalid-request',
            'This is not a JSON-RPC 2.0 message: it needs "jsonrpc": "2.0" and a method. Messages come one by one, not in batches.',
          ),
        )
      const { id, method, params } = message
      // A notification asks for nothing, and none of them concerns a session.
      if (id === undefined) return { text: null, refusal: null }
      if (typeof id !== 'string' && !Number.isSafeInteger(id))
        return refuse(new WireError('invalid-request', 'The id of a request is a string or a whole number.'))
      try {
        if (params !== undefined && !isObject(params))
          throw new WireError('invalid-params', `The parameters of ${method} have to be an object.`)
        const result = await answerRequest(host, caller, method, params ?? {}, options)
        if (result !== undefined) return { text: JSON.stringify({ jsonrpc: '2.0', id, result }), refusal: null }
        const answer = await discover(await advertise(host, caller), { jsonrpc: '2.0', id, method, params })
        return { text: JSON.stringify(answer), refusal: refusalIn(answer) }
      } catch (error) {
        return refuse(error, id as string | number)
      }
    },
  }
}

/** What a door says of itself to this caller. */
async function advertise(host: Host, caller: Caller): Promise<Advertisement> {
  if (caller.door === 'agent') {
    const { name, version, description, tools } = await environmentFor(host, caller)
    return { name, title: description, version, instructions: description, tools, extension: null }
  }
  const names = host.environments.map(({ name, version }) => `${name} ${version}`).join(', ')
  const [only] = host.environments
  return {
    name: 'episodic',
    title: 'Episodic environments',
    version: WIRE_VERSION,
    instructions: `Environments for training and evaluation: ${names}.`,
    tools: host.environments.length === 1 && only ? only.tools : [],
    extension: EXTENSION,
  }
}

/** The refusal in what the SDK answered, if it is one. */
function refusalIn(answer: object): WireErrorCode | null {
  return 'error' in answer ? (wireErrorCodeOf((answer.error as { code: number }).code) ?? 'internal') : null
}

function concealed(cause: unknown, onError: NonNullable<DispatcherOptions['onError']>): WireError {
  const reference = randomText()
  onError({ reference, cause })
  return new WireError('internal', `The server failed. Reference: ${reference}.`, { details: { reference } })
}

function isRequestShaped(message: unknown): message is { id?: unknown; method: string; params?: unknown } & JsonObject {
  return isObject(message) && message.jsonrpc === '2.0' && typeof message.method === 'string'
}
