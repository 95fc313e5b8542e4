/**
 * The revision of MCP from which on a request speaks for itself: there is no handshake, and no session of a transport.
 * Whatever comes before it is negotiated by `initialize`.
 */
export const MODERN_VERSION = '2026-07-28'

/** Keys in `_meta` by which a request of that revision says who speaks what, and an answer who answers. */
export const ENVELOPE = {
  version: 'io.modelcontextprotocol/protocolVersion',
  capabilities: 'io.modelcontextprotocol/clientCapabilities',
  client: 'io.modelcontextprotocol/clientInfo',
  server: 'io.modelcontextprotocol/serverInfo',
} as const
