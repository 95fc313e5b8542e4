import { type JsonObject, WireError } from '@episodic/protocol'
import { ENVELOPE, invalidParams, isObject, MODERN_VERSION } from '@episodic/protocol/internal'
import type { Caller } from '../host/access/caller.ts'
import type { Message } from './message.ts'

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
  const problem = findProblem(meta)
  if (method === 'initialize' && (problem !== null || !isModern(version as string))) return null
  if (problem !== null) throw invalidParams(`The _meta of a request of MCP ${MODERN_VERSION} ${problem}.`)
  return version as string
}

/** Whether a version is the first stateless one or a later one. */
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

/** Throws `unsupported-version`, with the versions that are supported without a handshake. */
export function assertSpoken(version: string): void {
  if (version === MODERN_VERSION) return
  const requested = version.slice(0, 32).toWellFormed()
  throw new WireError('unsupported-version', `MCP ${requested} is not spoken here without a handshake.`, {
    details: { supported: [MODERN_VERSION], requested },
  })
}

/** Whether the client of a request of the stateless version has declared an extension of MCP. */
export function declares(meta: JsonObject | null, extension: string): boolean {
  const capabilities = meta?.[ENVELOPE.capabilities]
  const extensions = isObject(capabilities) ? capabilities.extensions : null
  return isObject(extensions) && isObject(extensions[extension])
}

function findProblem(meta: JsonObject): string | null {
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
