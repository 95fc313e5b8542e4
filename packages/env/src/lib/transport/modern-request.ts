import type { JsonObject } from '@episodic/protocol'
import { ENVELOPE, MODERN_VERSION, WIRE_VERSION } from '@episodic/protocol/extend'

/** What every request of the modern era says of its sender. */
const SENDER = {
  [ENVELOPE.version]: MODERN_VERSION,
  [ENVELOPE.client]: { name: 'episodic', version: WIRE_VERSION },
}

/** The parameters of a request with what the modern era wants of every one. `capabilities` is what its sender can do besides asking. */
export function withSender(params: JsonObject, capabilities: JsonObject): JsonObject {
  const sender = { ...SENDER, [ENVELOPE.capabilities]: capabilities }
  return { ...params, _meta: { ...sender, ...(params._meta as JsonObject | undefined) } }
}

/** The headers that repeat a request of the modern era for whoever passes it on. */
export function repeatedIn(method: string, params: JsonObject): Record<string, string> {
  const name = method === 'resources/read' ? params.uri : params.name
  return {
    'mcp-protocol-version': MODERN_VERSION,
    'mcp-method': method,
    ...(NAMED.has(method) && typeof name === 'string' && { 'mcp-name': sendable(name) }),
  }
}

const NAMED = new Set(['tools/call', 'prompts/get', 'resources/read'])

/** A text as a header may carry it. */
export function sendable(text: string): string {
  if (/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith('=?base64?')) return text
  return `=?base64?${btoa(String.fromCharCode(...new TextEncoder().encode(text)))}?=`
}
