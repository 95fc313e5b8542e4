import { once } from 'node:events'
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'

/**
 * Serves one session over the standard streams of this process, until the client closes them or a signal comes.
 *
 * One process is one session: the caller's variables are the session's state, and `await using` disposes them with it.
 */
export async function runOverStdio(server: McpServer): Promise<void> {
  const left = Promise.race([once(process.stdin, 'end'), once(process, 'SIGTERM'), once(process, 'SIGINT')])
  await server.connect(new StdioServerTransport())
  await left
  await server.close()
}
