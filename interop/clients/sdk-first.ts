import type { JsonObject } from '@episodic/protocol'
import { Client as SdkClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Client } from './client.ts'
import { shownOf, versionOf } from './sdk-results.ts'

/** The client of the TypeScript SDK 1, which speaks the versions before 2026-07-28. */
export const sdkFirst: Client = {
  name: 'typescript-sdk-1',
  version: versionOf('@modelcontextprotocol/sdk'),
  protocols: ['2025-11-25'],
  plays: [['text', 'structured']],
  sends: ['missing argument', 'unknown tool'],
  async connect({ place }) {
    const client = new SdkClient({ name: 'interop', version: '1.0.0' })
    const transport =
      'url' in place
        ? new StreamableHTTPClientTransport(new URL(place.url))
        : new StdioClientTransport({ ...place, args: [...place.args], stderr: 'ignore' })
    // Its transport allows `undefined` where its interface of transports does not.
    await client.connect(transport as Parameters<SdkClient['connect']>[0])
    const { tools } = await client.listTools()
    return {
      protocol: 'protocolVersion' in transport ? (transport.protocolVersion ?? null) : null,
      tools: tools.map(({ name }) => name),
      call: (name, args: JsonObject) => shownOf(client.callTool({ name, arguments: args })),
      [Symbol.asyncDispose]: () => client.close(),
    }
  },
  async [Symbol.asyncDispose]() {},
}
