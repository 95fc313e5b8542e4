import type { JsonObject } from '../base/json.ts'

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

const typed = new WeakSet<Channel>()

/**
 * Marks a channel whose results are values of the types of this package, made by code of this process and held by
 * nobody else, and returns it. Its clients read results without parsing them. A wrapper around it is not marked,
 * because it may change what it hands on.
 */
export function markTyped<C extends Channel>(channel: C): C {
  typed.add(channel)
  return channel
}

/** Returns whether a channel is marked by {@link markTyped} of this very copy of the package, and so has its types. */
export function isTyped(channel: Channel): boolean {
  return typed.has(channel)
}
