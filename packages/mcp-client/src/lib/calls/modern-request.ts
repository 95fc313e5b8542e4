import type { JsonObject } from '@episodic/protocol'
import { ENVELOPE, MODERN_VERSION, WIRE_VERSION } from '@episodic/protocol/internal'

export const CLIENT = { name: 'episodic', version: WIRE_VERSION }

export function capabilitiesOf(elicit: unknown): JsonObject {
  return elicit ? { elicitation: { form: {} } } : {}
}

export function withSender(params: JsonObject, capabilities: JsonObject): JsonObject {
  const sender = {
    [ENVELOPE.version]: MODERN_VERSION,
    [ENVELOPE.client]: CLIENT,
    [ENVELOPE.capabilities]: capabilities,
  }
  return { ...params, _meta: { ...sender, ...(params._meta as JsonObject | undefined) } }
}

/** Returns the headers that repeat the method and the name of a stateless request, for proxies. */
export function repeatedIn(method: string, params: JsonObject): Record<string, string> {
  const name = method === 'resources/read' ? params.uri : params.name
  return {
    'mcp-protocol-version': MODERN_VERSION,
    'mcp-method': method,
    ...(NAMED.has(method) && typeof name === 'string' && { 'mcp-name': sendable(name) }),
  }
}

const NAMED = new Set(['tools/call', 'prompts/get', 'resources/read'])

/** Returns a text as a header value, in Base64 if it is not printable ASCII. */
export function sendable(text: string): string {
  if (/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith('=?base64?')) return text
  return `=?base64?${btoa(String.fromCharCode(...new TextEncoder().encode(text)))}?=`
}
