import { once } from 'node:events'
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'

/**
 * Serves one session over the standard streams of this process, until the client closes them or a signal comes.
 *
 * A process is a session here: what the caller holds is the session's state, and `await using` ends it with the session.
 */
export async function runOverStdio(server: McpServer): Promise<void> {
  const left = Promise.race([once(process.stdin, 'end'), once(process, 'SIGTERM'), once(process, 'SIGINT')])
  await server.connect(new StdioServerTransport())
  await left
  await server.close()
}
