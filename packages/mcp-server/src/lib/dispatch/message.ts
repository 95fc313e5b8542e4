import { type Json, type JsonObject, METHODS, WireError } from '@episodic/protocol'
import { ENVELOPE, invalidParams, isObject, MODERN_VERSION } from '@episodic/protocol/internal'
import type { AgentCaller, Caller } from '../host/access/caller.ts'
import type { Host, SessionRef } from '../host/host.ts'
import { findProblem, MESSAGE_BOUNDS, TRAINER_BOUNDS } from './json-bounds.ts'

/** An id of a request, unique among those of one client that are not answered. */
export type RequestId = string | number

/** One JSON-RPC message, read once: every transport passes this on, and nothing reads the text again. */
export interface Message {
  /** `undefined` for a notification, which gets no answer; `null` for a request without a valid id. */
  readonly id: RequestId | null | undefined
  /** Empty if the message has none. */
  readonly method: string
  readonly params: JsonObject
  readonly meta: JsonObject | null
  /** The error with which the message is answered instead of being handled; `null` if the message is valid. */
  readonly problem: WireError | null
}

/** Who asks at the agent endpoint, with the session of its address; `null` if its requests name theirs. */
export interface AgentAsker {
  readonly host: Host
  readonly caller: AgentCaller
  readonly session: SessionRef | null
}

/** The most characters of a request id: every answer repeats its request's id. */
const ID_CHARACTERS = 256

/** Reads a message that was parsed once, and so is what is used. Never throws: its `problem` says what is wrong. */
export function readMessage(value: unknown): Message {
  const given = isObject(value) ? value : {}
  const sent = given.params ?? {}
  const isRead = isObject(sent)
  const meta = isRead && isObject(sent._meta) ? sent._meta : null
  const method = typeof given.method === 'string' ? given.method : ''
  const params = isRead ? withoutNulls(sent, method) : {}
  const notified = given.id === undefined
  const id = notified || !isRequestId(given.id) ? null : given.id
  const message = { id, method, params, meta, problem: null }
  if (given.jsonrpc !== '2.0' || typeof given.method !== 'string')
    return { ...message, id: typeof given.method === 'string' ? id : null, problem: notAMessage() }
  if (notified) return { ...message, id: undefined }
  if (id === null) return { ...message, problem: invalidId() }
  const bounds = method === METHODS.restore ? TRAINER_BOUNDS : MESSAGE_BOUNDS
  const problem = isRead ? findProblem(params, bounds) : 'have to be an object'
  if (problem === null) return message
  return { ...message, problem: invalidParams(`The parameters of ${method} ${problem}.`) }
}

const OPTIONAL = ['_meta', 'arguments', 'cursor', 'task']

/**
 * Returns parameters without optional members that are `null`: several languages write `null` for what is left out.
 * Arguments of tools are left as they are, and what `initialize` sends is looked through.
 */
function withoutNulls(params: JsonObject, method: string): JsonObject {
  if (method === 'initialize') return withoutAnyNull(params, 4) as JsonObject
  // Nearly no request has one, and a copy would cost each of them.
  for (const name of OPTIONAL)
    if (params[name] === null)
      return Object.fromEntries(
        Object.entries(params).filter(([name, value]) => value !== null || !OPTIONAL.includes(name)),
      )
  return params
}

function withoutAnyNull(value: Json, levels: number): Json {
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

/** Session-based protocol versions that the endpoints negotiate, newest first: those of the MCP SDK. */
export const PROTOCOL_VERSIONS: readonly string[] = [
  '2025-11-25',
  '2025-06-18',
  '2025-03-26',
  '2024-11-05',
  '2024-10-07',
]

/**
 * Returns the protocol version that a request names in `_meta`, as every request of the stateless version does; `null`
 * for a request of the session-based version.
 *
 * An `initialize` belongs to the session-based version unless its `_meta` is valid and names the stateless one. Throws
 * `invalid-params` for another request whose `_meta` lacks a required field.
 */
export function readEnvelope({ method, meta }: Pick<Message, 'method' | 'meta'>): string | null {
  if (!meta || !Object.hasOwn(meta, ENVELOPE.version)) return null
  const version = meta[ENVELOPE.version]
  const problem = findEnvelopeProblem(meta)
  if (method === 'initialize' && (problem !== null || !isModern(version as string))) return null
  if (problem !== null) throw invalidParams(`The _meta of a request of MCP ${MODERN_VERSION} ${problem}.`)
  return version as string
}

export function isModern(version: string): boolean {
  return version >= MODERN_VERSION
}

/**
 * Decides once whether a request is answered in the stateless version, in which an answer says that it is complete and
 * who gives it. `version` is what {@link readEnvelope} returned. An environment without a handle needs an MCP session,
 * so it is played in the session-based version alone. Throws `unsupported-version`.
 */
export function isStateless(caller: Caller, version: string | null): boolean {
  if (version === null || (caller.endpoint === 'agent' && caller.address.by === 'transport')) return false
  assertSpoken(version)
  return true
}

export function assertSpoken(version: string): void {
  if (version === MODERN_VERSION) return
  const requested = version.slice(0, 32).toWellFormed()
  throw new WireError('unsupported-version', `MCP ${requested} is not spoken here without a handshake.`, {
    details: { supported: [MODERN_VERSION], requested },
  })
}

function findEnvelopeProblem(meta: JsonObject): string | null {
  const { [ENVELOPE.version]: version, [ENVELOPE.capabilities]: capabilities, [ENVELOPE.client]: client } = meta
  if (typeof version !== 'string') return `names its version as text, in "${ENVELOPE.version}"`
  if (!isObject(capabilities)) return `says what the client can do, in "${ENVELOPE.capabilities}": at least {}`
  if (
    client !== undefined &&
    !(isObject(client) && typeof client.name === 'string' && typeof client.version === 'string')
  )
    return `names the client with a name and a version, in "${ENVELOPE.client}"`
  return null
}
