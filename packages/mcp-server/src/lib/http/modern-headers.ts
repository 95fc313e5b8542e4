import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import { type JsonObject, WireError } from '@episodic/protocol'
import { ENVELOPE, isObject, MODERN_VERSION } from '@episodic/protocol/extend'
import { assertSpoken, isModern, readEnvelope } from '../dispatch/protocol-version.ts'

/**
 * Returns whether a posted message is of the stateless protocol version, and checks that its headers and its body
 * agree.
 *
 * The body decides; a message that claims the version only in a header is invalid. A proxy may route by the headers
 * while the server reads the body, so a request whose headers and body differ is rejected. Throws `header-mismatch`,
 * `unsupported-version` and `invalid-params`, in this order of checks; this version answers each with status 400.
 */
export function isModernPost(headers: IncomingHttpHeaders, message: unknown): boolean {
  if (!isObject(message) || !isMessage(message)) return false
  const version = headers['mcp-protocol-version'] as string | undefined
  const named = version !== undefined && isModern(version)
  const said = message.id === undefined ? readNotified(message.params) : readRequested(message, version)
  if (said === null && !named) return false
  if (said !== null && version !== undefined && version !== said)
    throw mismatch('MCP-Protocol-Version and _meta name different versions')
  const method = headers['mcp-method']
  if (method !== undefined && method !== message.method) throw mismatch('Mcp-Method names another method')
  assertSpoken(said ?? (version as string))
  if (message.id === undefined) return true
  if (version === undefined) throw mismatch('MCP-Protocol-Version is missing')
  if (method === undefined) throw mismatch('Mcp-Method is missing')
  if (NAMED.has(message.method))
    checkName(headers['mcp-name'] as string | undefined, nameIn(message.method, message.params))
  return true
}

/** Returns the version that a request names; `null` for a request of the session-based version. */
function readRequested({ method, params }: Message, header: string | undefined): string | null {
  const version = readEnvelope(method, params)
  if (version !== null || header === undefined || !isModern(header)) return version
  if (method === 'initialize') throw mismatch('there is no initialize in the version that MCP-Protocol-Version names')
  throw new WireError(
    'invalid-params',
    'A request of the version that MCP-Protocol-Version names says so in its _meta, and this one does not.',
  )
}

/** Returns the version that a notification names, which needs no other fields; `null` if it names none. */
function readNotified(params: unknown): string | null {
  const meta = isObject(params) ? params._meta : undefined
  const version = isObject(meta) && Object.hasOwn(meta, ENVELOPE.version) ? meta[ENVELOPE.version] : null
  if (version === null || typeof version === 'string') return version
  throw new WireError('invalid-params', `A notification names its version as text, in "${ENVELOPE.version}".`)
}

/** The methods whose `Mcp-Name` repeats a parameter. */
const NAMED = new Set(['tools/call', 'prompts/get', 'resources/read'])

/** Returns the parameter that `Mcp-Name` repeats; `undefined` if there is none. */
function nameIn(method: string, params: unknown): unknown {
  if (!isObject(params)) return undefined
  return method === 'resources/read' ? params.uri : params.name
}

function checkName(header: string | undefined, name: unknown): void {
  const said = header === undefined ? undefined : decoded(header)
  if (said === null) throw mismatch('Mcp-Name is not what it says, UTF-8 in base64')
  if (typeof name !== 'string' || said === name) return
  throw mismatch(said === undefined ? 'Mcp-Name is missing' : 'Mcp-Name names something else')
}

/** Decodes a header, which may be `=?base64?<UTF-8 in base64>?=`. Returns `null` if that is malformed. */
function decoded(header: string): string | null {
  if (!header.startsWith('=?base64?') || !header.endsWith('?=')) return header
  const encoded = /^=\?base64\?((?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?)\?=$/.exec(header)?.[1]
  if (encoded === undefined) return null
  const bytes = Buffer.from(encoded, 'base64')
  return isUtf8(bytes) ? bytes.toString() : null
}

type Message = JsonObject & { readonly method: string }

/** Whether it is a well-formed request or notification. */
function isMessage(message: JsonObject): message is Message {
  const { jsonrpc, id, method } = message
  return (
    jsonrpc === '2.0' &&
    typeof method === 'string' &&
    (id === undefined || typeof id === 'string' || Number.isSafeInteger(id))
  )
}

function mismatch(what: string): WireError {
  return new WireError(
    'header-mismatch',
    `The headers and the body of a request of MCP ${MODERN_VERSION} have to agree: ${what}.`,
  )
}
