import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import { type JsonObject, WireError } from '@episodic/protocol'
import { ENVELOPE, isObject, MODERN_VERSION } from '@episodic/protocol/extend'
import { assertSpoken, isModern, readEnvelope } from '../dispatch/protocol-version.ts'

/**
 * Whether a message that was posted belongs to the modern era of MCP, and says the same in its headers and its body.
 *
 * What decides is the body; a header alone that claims the era makes the message a wrong one. A proxy may route by the
 * headers of a request and a server go by its body, so where they differ nothing is done at all. Throws
 * `header-mismatch`, `unsupported-version` and `invalid-params`, which this era answers with status 400, and in this
 * order of checks.
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

/** The version that a request names; `null` for one of the era before. */
function readRequested({ method, params }: Message, header: string | undefined): string | null {
  const version = readEnvelope(method, params)
  if (version !== null || header === undefined || !isModern(header)) return version
  if (method === 'initialize') throw mismatch('there is no initialize in the version that MCP-Protocol-Version names')
  throw new WireError(
    'invalid-params',
    'A request of the version that MCP-Protocol-Version names says so in its _meta, and this one does not.',
  )
}

/** The version that a notification names, of which no more is asked. */
function readNotified(params: unknown): string | null {
  const meta = isObject(params) ? params._meta : undefined
  const version = isObject(meta) && Object.hasOwn(meta, ENVELOPE.version) ? meta[ENVELOPE.version] : null
  if (version === null || typeof version === 'string') return version
  throw new WireError('invalid-params', `A notification names its version as text, in "${ENVELOPE.version}".`)
}

/** The methods whose `Mcp-Name` repeats a parameter. */
const NAMED = new Set(['tools/call', 'prompts/get', 'resources/read'])

/** What `Mcp-Name` repeats of the parameters; `undefined` where there is nothing to repeat. */
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

/** What a header says; what could not be sent as it is comes as `=?base64?<UTF-8 in base64>?=`. `null` where that is wrong. */
function decoded(header: string): string | null {
  if (!header.startsWith('=?base64?') || !header.endsWith('?=')) return header
  const encoded = /^=\?base64\?((?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?)\?=$/.exec(header)?.[1]
  if (encoded === undefined) return null
  const bytes = Buffer.from(encoded, 'base64')
  return isUtf8(bytes) ? bytes.toString() : null
}

type Message = JsonObject & { readonly method: string }

/** Whether it is a request or a notification at all. */
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
