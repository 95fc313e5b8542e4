import type { JsonObject } from './json.ts'

/**
 * The first stateless version of MCP: each request carries its own protocol version, and there is neither a handshake
 * nor a transport session. Earlier versions are negotiated by `initialize`.
 */
export const MODERN_VERSION = '2026-07-28'

/** Keys in `_meta` with which a stateless request names its version and client, and an answer its server. */
export const ENVELOPE = {
  version: 'io.modelcontextprotocol/protocolVersion',
  capabilities: 'io.modelcontextprotocol/clientCapabilities',
  client: 'io.modelcontextprotocol/clientInfo',
  server: 'io.modelcontextprotocol/serverInfo',
} as const

/** The most characters of a request id: every answer repeats its request's id. */
const ID_CHARACTERS = 256

/** Returns whether a request may have this id: well-formed text of at most {@link ID_CHARACTERS}, or a whole number. */
function isRequestId(id: unknown): id is string | number {
  return typeof id === 'string' ? id.length <= ID_CHARACTERS && id.isWellFormed() : Number.isSafeInteger(id)
}

/** Returns the id under which to answer a message; `null` if it has no valid one. */
export function idOf(message: unknown): string | number | null {
  const id = (message as { readonly id?: unknown } | null | undefined)?.id
  return isRequestId(id) ? id : null
}

/**
 * A client's connection to a server, independent of the transport (HTTP, a child process, or a host in this process).
 *
 * `request` resolves with the result of the call. It rejects with a `WireError` if the server answered with an error,
 * and with another error if there was no answer (the transport failed, or `signal` was aborted). Requests may run
 * concurrently. `close` releases what the channel holds and may be called twice.
 */
export interface Channel {
  request(method: string, params: JsonObject, options?: { readonly signal?: AbortSignal | undefined }): Promise<unknown>
  close(): Promise<void>
}
