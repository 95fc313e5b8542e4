import { type JsonObject, WireError } from '@episodic/protocol'
import { isObject } from '@episodic/protocol/extend'

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

/** How deep the parameters of a request may nest: the code that reads them later is recursive. */
const MAX_NESTING = 64

/** How many values a request may hold: a schema takes a few microseconds for each, and other requests wait. */
const MAX_VALUES = 10_000

/** The most characters of a request id: every answer repeats its request's id. */
const ID_CHARACTERS = 256

/** Characters up to which a text is parsed at once: it cannot hold enough to take long. */
const SHORT = 4_096
/** What a message wraps around its parameters. */
const ENVELOPE = 8

/**
 * Parses the text of one message, once: what is checked afterwards is what is used, the last of equal keys.
 *
 * A long text is scanned first: parsing one that nests half a million deep blocks the process for a tenth of a second.
 * Throws `parse-error`, and `invalid-request` for a text that nests too deep or holds too many values.
 */
export function parseMessage(text: string): Message {
  const problem = isLong(text) ? findExcess(text) : null
  if (problem !== null) throw new WireError('invalid-request', `The message ${problem}. Send less at once.`)
  return readMessage(parseJson(text))
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new WireError('parse-error', 'The message is not JSON.', { cause })
  }
}

/** Reads a parsed message. Never throws: whatever is wrong with it is its `problem`. */
export function readMessage(value: unknown): Message {
  const given = isObject(value) ? value : {}
  const params = given.params === undefined ? {} : given.params
  const [plain, meta] = isObject(params) ? [params, isObject(params._meta) ? params._meta : null] : [{}, null]
  const method = typeof given.method === 'string' ? given.method : ''
  const notified = given.id === undefined
  const id = notified || !isRequestId(given.id) ? null : given.id
  const message = { id, method, params: plain, meta, problem: null }
  if (given.jsonrpc !== '2.0' || typeof given.method !== 'string')
    return { ...message, id: typeof given.method === 'string' ? id : null, problem: notAMessage() }
  if (notified) return { ...message, id: undefined }
  if (id === null) return { ...message, problem: invalidId() }
  const problem = plain === params ? checkParams(params) : 'have to be an object'
  if (problem === null) return message
  return { ...message, problem: new WireError('invalid-params', `The parameters of ${method} ${problem}.`) }
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

/** Whether a text may take long to parse: it may hold thousands of values. */
export function isLong(text: string): boolean {
  return text.length > SHORT
}

/** Counts brackets and commas outside of strings. For a text that is not JSON, the result means nothing. */
function findExcess(text: string): string | null {
  let depth = 0
  let values = 0
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at)
        break
      case OPEN_BRACKET:
      case OPEN_BRACE:
        values += 1
        depth += 1
        if (depth > MAX_NESTING + ENVELOPE) return `nests more than ${MAX_NESTING} deep`
        break
      case CLOSE_BRACKET:
      case CLOSE_BRACE:
        depth -= 1
        break
      case COMMA:
        values += 1
    }
    if (values > MAX_VALUES + ENVELOPE) return `holds more than ${MAX_VALUES} values`
  }
  return null
}

/** Returns where the string that starts at `start` ends, or the end of the text if it does not. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at
    if (code === BACKSLASH) at += 1
  }
  return text.length
}

const [QUOTE, COMMA, BACKSLASH] = [0x22, 0x2c, 0x5c]
const [OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d]

/**
 * Returns why the parameters of a request are rejected at the endpoint; `null` if they are accepted.
 *
 * Accepted parameters are small enough to be checked in a few milliseconds, and mean the same to all code that reads
 * them. JSON text can spell numbers out of range and invalid characters, and keys that set the prototype of an object
 * in code that merges it into another. Reads at most {@link MAX_VALUES} values, at most {@link MAX_NESTING} deep, so
 * any value is safe to pass, even a circular one of this process.
 */
function checkParams(params: JsonObject): string | null {
  return findProblem(params, MAX_NESTING, { left: MAX_VALUES })
}

function findProblem(value: unknown, levels: number, values: { left: number }): string | null {
  switch (typeof value) {
    case 'string':
      return value.isWellFormed() ? null : HALF_PAIR
    case 'number':
      return Number.isFinite(value) ? null : 'hold a number that is out of range or none'
    case 'bigint':
    case 'function':
    case 'symbol':
      return `hold a ${typeof value}, which JSON has not`
    case 'object':
      if (value === null) return null
      if (levels === 0) return `are nested more than ${MAX_NESTING} deep`
      return Array.isArray(value) ? findInArray(value, levels - 1, values) : findInObject(value, levels - 1, values)
    default:
      return null
  }
}

function findInArray(array: readonly unknown[], levels: number, values: { left: number }): string | null {
  values.left -= array.length
  if (values.left < 0) return TOO_MANY
  for (const value of array) {
    const problem = findProblem(value, levels, values)
    if (problem !== null) return problem
  }
  return null
}

function findInObject(object: object, levels: number, values: { left: number }): string | null {
  const prototype = Object.getPrototypeOf(object)
  if (prototype !== Object.prototype && prototype !== null) return 'hold an instance of a class, which JSON has not'
  for (const key in object) {
    if (--values.left < 0) return TOO_MANY
    const value = (object as Record<string, unknown>)[key]
    // The same two as secure-json-parse. A key `constructor` or `prototype` by itself may be an argument of a tool.
    if (key === '__proto__' || (key === 'constructor' && hasPrototype(value)))
      return `hold the key ${key}, which no plain object carries safely`
    if (!key.isWellFormed()) return HALF_PAIR
    const problem = findProblem(value, levels, values)
    if (problem !== null) return problem
  }
  return null
}

function hasPrototype(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype')
}

const HALF_PAIR = 'hold half of a surrogate pair, which is no character'
const TOO_MANY = `hold more than ${MAX_VALUES} values`
