import { type JsonObject, METHODS, WireError } from '@episodic/protocol'
import { invalidParams, isObject } from '@episodic/protocol/internal'
import { findProblem, type JsonBounds, MESSAGE_BOUNDS, parseBounded, TRAINER_BOUNDS } from './json-bounds.ts'

/** An id of a request, unique among those of one client that are not answered. */
export type RequestId = string | number

/** One JSON-RPC message, read once: every transport passes this on, and nothing reads the text again. */
export interface Message {
  /** `undefined` for a notification, which gets no answer; `null` for a request without a valid id. */
  readonly id: RequestId | null | undefined
  /** Empty if the message has none. */
  readonly method: string
  readonly params: JsonObject
  /** `_meta` of the parameters; `null` if there is none. */
  readonly meta: JsonObject | null
  /** The error with which the message is answered instead of being handled; `null` if the message is valid. */
  readonly problem: WireError | null
}

/** The most characters of a request id: every answer repeats its request's id. */
const ID_CHARACTERS = 256

/**
 * Parses the text of one message, once: what is checked afterwards is what is used, the last of equal keys.
 *
 * A long text is scanned first: parsing one that nests half a million deep blocks the process for a tenth of a second.
 * Throws `parse-error`, and `invalid-request` for a text that nests too deep or holds too many values.
 */
export function parseMessage(text: string, bounds: JsonBounds = MESSAGE_BOUNDS): Message {
  return readMessage(parseBounded(text, 'message', bounds))
}

/** Reads a parsed message. Never throws: whatever is wrong with it is its `problem`. */
export function readMessage(value: unknown): Message {
  const given = isObject(value) ? value : {}
  const method = typeof given.method === 'string' ? given.method : ''
  const params = withoutNulls(given.params ?? {}, method)
  const [plain, meta] = isObject(params) ? [params, isObject(params._meta) ? params._meta : null] : [{}, null]
  const notified = given.id === undefined
  const id = notified || !isRequestId(given.id) ? null : given.id
  const message = { id, method, params: plain, meta, problem: null }
  if (given.jsonrpc !== '2.0' || typeof given.method !== 'string')
    return { ...message, id: typeof given.method === 'string' ? id : null, problem: notAMessage() }
  if (notified) return { ...message, id: undefined }
  if (id === null) return { ...message, problem: invalidId() }
  const bounds = method === METHODS.restore ? TRAINER_BOUNDS : MESSAGE_BOUNDS
  const problem = plain === params ? findProblem(plain, bounds) : 'have to be an object'
  if (problem === null) return message
  return { ...message, problem: invalidParams(`The parameters of ${method} ${problem}.`) }
}

/** Members of parameters that a request may leave out. */
const OPTIONAL = ['_meta', 'arguments', 'cursor', 'task']

/**
 * Returns parameters without optional members that are `null`: several languages write `null` for what is left out.
 * Arguments of tools are left as they are, and what `initialize` sends is looked through.
 */
function withoutNulls(params: unknown, method: string): unknown {
  if (!isObject(params)) return params
  if (method === 'initialize') return withoutAnyNull(params, 4)
  // Nearly no request has one, and a copy would cost each of them.
  if (!hasNull(params)) return params
  return Object.fromEntries(
    Object.entries(params).filter(([name, value]) => value !== null || !OPTIONAL.includes(name)),
  )
}

function hasNull(params: JsonObject): boolean {
  for (const name of OPTIONAL) if (params[name] === null) return true
  return false
}

function withoutAnyNull(value: unknown, levels: number): unknown {
  if (!isObject(value) || levels === 0) return value
  const members = Object.entries(value).filter(([, member]) => member !== null)
  return Object.fromEntries(members.map(([name, member]) => [name, withoutAnyNull(member, levels - 1)]))
}

function isRequestId(id: unknown): id is RequestId {
  return typeof id === 'string' ? id.length <= ID_CHARACTERS && id.isWellFormed() : Number.isSafeInteger(id)
}

function notAMessage(): WireError {
  return new WireError(
    'invalid-request',
    'This is not a JSON-RPC 2.0 message: it needs "jsonrpc": "2.0" and a method. Messages come one by one, not in batches.',
  )
}

function invalidId(): WireError {
  return new WireError(
    'invalid-request',
    `The id of a request is well-formed text of at most ${ID_CHARACTERS} characters, or a whole number.`,
  )
}
