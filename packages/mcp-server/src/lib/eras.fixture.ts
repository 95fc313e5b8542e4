import { ENVELOPE, MODERN_VERSION } from '@episodic/protocol'
import {
  StreamableHTTPClientTransport as ModernHttpTransport,
  Client as ModernSdkClient,
} from '@modelcontextprotocol/client'
import { StdioClientTransport as ModernStdioTransport } from '@modelcontextprotocol/client/stdio'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { onTestFinished } from 'vitest'

/** An answer of a tool, as each official client gives it. */
export interface ToldByTool {
  readonly [key: string]: unknown
  readonly content?: unknown
  readonly structuredContent?: unknown
  readonly isError?: unknown
}

/** What the tests ask of an official client, whichever it is. */
export interface OfficialClient {
  getInstructions(): string | undefined
  listTools(): Promise<{ readonly tools: readonly { readonly name: string }[] }>
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<ToldByTool>
  readResource(resource: { uri: string }): Promise<object>
  close(): Promise<void>
}

/** A URL, or a command to start. */
type Place = string | { readonly command: string; readonly args: string[] }

/** The official clients, by the SDK and by how they find out what a server speaks. */
export const OFFICIAL_CLIENTS = {
  'SDK 1': connectFirst,
  'SDK 2 before 2026': (place: Place) => connectSecond(place, 'legacy'),
  'SDK 2 by itself': (place: Place) => connectSecond(place, 'auto'),
  'SDK 2 of 2026': (place: Place) => connectSecond(place, { pin: MODERN_VERSION }),
} satisfies { readonly [name: string]: (place: Place) => Promise<OfficialClient> }

async function connectFirst(place: Place): Promise<OfficialClient> {
  const client = new Client({ name: 'first', version: '1.0.0' })
  const transport =
    typeof place === 'string' ? new StreamableHTTPClientTransport(new URL(place)) : new StdioClientTransport(place)
  await client.connect(transport as Parameters<Client['connect']>[0])
  onTestFinished(() => client.close())
  return client
}

async function connectSecond(place: Place, mode: 'legacy' | 'auto' | { pin: string }): Promise<OfficialClient> {
  const client = new ModernSdkClient({ name: 'second', version: '1.0.0' }, { versionNegotiation: { mode } })
  onTestFinished(() => client.close())
  await client.connect(
    typeof place === 'string' ? new ModernHttpTransport(new URL(place)) : new ModernStdioTransport(place),
  )
  return client
}

/** What every request of the modern era says in `_meta`. */
export const MODERN_META = {
  [ENVELOPE.version]: MODERN_VERSION,
  [ENVELOPE.capabilities]: {},
  [ENVELOPE.client]: { name: 'raw', version: '1.0.0' },
}

/** The headers that repeat a request of the modern era. */
export function modernHeaders(method: string, name?: string): Record<string, string> {
  return {
    'mcp-protocol-version': MODERN_VERSION,
    'mcp-method': method,
    ...(name !== undefined && { 'mcp-name': name }),
  }
}
