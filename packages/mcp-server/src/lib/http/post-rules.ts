import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import { WireError } from '@episodic/protocol'
import { ENVELOPE, invalidParams, MODERN_VERSION, shorten } from '@episodic/protocol/internal'
import { assertSpoken, isModern, type Message, PROTOCOL_VERSIONS, readEnvelope } from '../dispatch/message.ts'
import type { AgentCaller, Caller } from '../host/access/caller.ts'
import type { HttpRequest } from './fast-path/connection.ts'
import type { Denial } from './host-origin-check.ts'

export type Posted =
  /** Of a version that is not spoken here. */
  | { readonly kind: 'denied'; readonly denial: Denial }
  /** Of the stateless version, with headers and a body that do not agree. */
  | { readonly kind: 'mismatched'; readonly error: unknown }
  /** Of the stateless version, MCP 2026-07-28: each call names its session, and the caller has no MCP session. */
  | { readonly kind: 'stateless'; readonly caller: Caller }
  /** Of a session-based version, and asks for a new MCP session. */
  | { readonly kind: 'initialize'; readonly caller: AgentCaller }
  /** Of a session-based version, in an MCP session that has to be checked. */
  | { readonly kind: 'in-session'; readonly caller: AgentCaller }
  /**
   * Of a session-based version, and without an MCP session, or with one that is checked when the message is dispatched:
   * at the trainer endpoint, at a session URL, a `tools/call` of an MCP session that is the episode itself, and
   * `server/discover`.
   */
  | { readonly kind: 'direct'; readonly caller: Caller }

export function classifyPost(request: HttpRequest, message: Message, caller: Caller): Posted {
  const denial = checkVersion(request)
  let stateless: boolean
  try {
    stateless = isModernPost(request.headers, message)
  } catch (error) {
    return { kind: 'mismatched', error }
  }
  const address = caller.endpoint === 'agent' ? caller.address : null
  // An environment without a handle needs a session-based version, so its clients fall back to one.
  if (stateless && address?.by !== 'transport') return { kind: 'stateless', caller: withoutTransport(caller) }
  if (denial) return { kind: 'denied', denial }
  const { method } = message
  if (caller.endpoint === 'trainer' || caller.address.by === 'capability' || method === 'server/discover')
    return { kind: 'direct', caller }
  if (method === 'initialize') return { kind: 'initialize', caller }
  const isOwnStep = caller.address.by === 'transport' && method === 'tools/call'
  return { kind: isOwnStep ? 'direct' : 'in-session', caller }
}

function withoutTransport(caller: Caller): Caller {
  if (caller.endpoint === 'trainer' || caller.address.by !== 'argument') return caller
  return { ...caller, address: { ...caller.address, token: null } }
}

export function checkPost({ headers }: HttpRequest): Denial | null {
  if (!/^application\/json\s*(;|$)/i.test(headers['content-type'] ?? ''))
    return { status: 415, message: 'Send JSON: Content-Type: application/json.' }
  const encoded = checkEncoding(headers)
  if (encoded) return encoded
  if (!takesJson(headers) && !takesEvents({ headers }))
    return { status: 406, message: 'Answers are JSON: Accept has to include application/json.' }
  return null
}

/** Checks that a body is not compressed: no endpoint here reads one that is. */
export function checkEncoding(headers: IncomingHttpHeaders): Denial | null {
  const encoding = headers['content-encoding']?.trim() || 'identity'
  if (encoding.toLowerCase() === 'identity') return null
  return {
    status: 415,
    message: `A body with Content-Encoding: ${shorten(encoding, 32)} is not read here. Send it without an encoding.`,
  }
}

function takesJson({ accept = '*/*' }: IncomingHttpHeaders): boolean {
  return /application\/json|application\/\*|\*\/\*/i.test(accept)
}

export function takesOnlyEvents({ headers }: Pick<HttpRequest, 'headers'>): boolean {
  return !takesJson(headers) && takesEvents({ headers })
}

export function takesEvents({ headers }: Pick<HttpRequest, 'headers'>): boolean {
  return /text\/event-stream|text\/\*|\*\/\*/i.test(headers.accept ?? '')
}

/** Checks the version of a request after `initialize`. Requests of the stateless version have their own checks. */
export function checkVersion({ headers }: HttpRequest): Denial | null {
  const version = headers['mcp-protocol-version']
  return version === undefined || PROTOCOL_VERSIONS.includes(version as string) || isModern(version as string)
    ? null
    : {
        status: 400,
        message: `This protocol version is not spoken here. Spoken are: ${[MODERN_VERSION, ...PROTOCOL_VERSIONS].join(', ')}.`,
      }
}

export function missingTransport(): Denial {
  return { status: 400, message: 'Send the Mcp-Session-Id that initialize answered with.' }
}

/**
 * Returns whether a posted message is of the stateless protocol version, and checks that its headers and its body
 * agree.
 *
 * The body decides; a message that claims the version only in a header is invalid. A proxy may route by the headers
 * while the server reads the body, so a request whose headers and body differ is rejected. Throws `header-mismatch`,
 * `unsupported-version` and `invalid-params`, in this order of checks; this version answers each with status 400.
 */
function isModernPost(headers: IncomingHttpHeaders, message: Message): boolean {
  // What is no message belongs to no version.
  if (message.problem?.code === 'invalid-request') return false
  const version = headers['mcp-protocol-version'] as string | undefined
  const named = version !== undefined && isModern(version)
  const said = message.id === undefined ? readNotified(message) : readRequested(message, version)
  if (said === null && !named) return false
  if (said !== null && version !== undefined && version !== said)
    throw mismatch('MCP-Protocol-Version and _meta name different versions')
  const method = headers['mcp-method']
  if (method !== undefined && method !== message.method) throw mismatch('Mcp-Method names another method')
  assertSpoken(said ?? (version as string))
  if (message.id === undefined) return true
  if (version === undefined) throw mismatch('MCP-Protocol-Version is missing')
  if (method === undefined) throw mismatch('Mcp-Method is missing')
  if (NAMED.has(message.method)) checkName(headers['mcp-name'] as string | undefined, nameIn(message))
  return true
}

/** Returns the version that a request names; `null` for a request of the session-based version. */
function readRequested(message: Message, header: string | undefined): string | null {
  const version = readEnvelope(message)
  if (version !== null || header === undefined || !isModern(header)) return version
  if (message.method === 'initialize')
    throw mismatch('there is no initialize in the version that MCP-Protocol-Version names')
  throw invalidParams(
    'A request of the version that MCP-Protocol-Version names says so in its _meta, and this one does not.',
  )
}

/** Returns the version that a notification names, which needs no other fields; `null` if it names none. */
function readNotified({ meta }: Message): string | null {
  const version = meta && Object.hasOwn(meta, ENVELOPE.version) ? meta[ENVELOPE.version] : null
  if (version === null || typeof version === 'string') return version
  throw invalidParams(`A notification names its version as text, in "${ENVELOPE.version}".`)
}

/** The methods whose `Mcp-Name` repeats a parameter. */
const NAMED = new Set(['tools/call', 'prompts/get', 'resources/read'])

function nameIn({ method, params }: Message): unknown {
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

function mismatch(what: string): WireError {
  return new WireError(
    'header-mismatch',
    `The headers and the body of a request of MCP ${MODERN_VERSION} have to agree: ${what}.`,
  )
}
