import { Client as SdkClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import type { Client } from './client.ts'
import { shownOf, versionOf } from './sdk-results.ts'

/** The client of the TypeScript SDK 2. With `auto` it asks the server for its versions, and takes 2026-07-28. */
export const sdkSecond: Client = {
  name: 'typescript-sdk-2',
  version: versionOf('@modelcontextprotocol/client'),
  protocols: ['2025-11-25', '2026-07-28'],
  plays: [['text', 'structured']],
  sends: ['missing argument', 'unknown tool'],
  async connect({ place, protocol }) {
    const client = new SdkClient(
      { name: 'interop', version: '1.0.0' },
      { versionNegotiation: { mode: protocol === '2025-11-25' ? 'legacy' : 'auto' } },
    )
    await client.connect(
      'url' in place
        ? new StreamableHTTPClientTransport(new URL(place.url))
        : new StdioClientTransport({ ...place, args: [...place.args], stderr: 'ignore' }),
    )
    const { tools } = await client.listTools()
    return {
      protocol: client.getNegotiatedProtocolVersion() ?? null,
      tools: tools.map(({ name }) => name),
      call: (name, args) => shownOf(client.callTool({ name, arguments: args })),
      [Symbol.asyncDispose]: () => client.close(),
    }
  },
  async [Symbol.asyncDispose]() {},
}
