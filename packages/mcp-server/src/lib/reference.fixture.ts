import { McpServer as FirstServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import { createMcpHandler, isLegacyRequest, McpServer as SecondServer } from '@modelcontextprotocol/server'
import { z } from 'zod'

const INFO = { name: 'tally', title: 'Count to ten.', version: '1.0.0' }
const TOOL = {
  description: 'Add to the count.',
  inputSchema: z.object({ by: z.int().min(1).max(5) }),
  outputSchema: z.object({ count: z.int() }),
}

/**
 * The world of `tally.fixture.ts` as one would write it with the SDKs alone, behind their own transports: what our front is
 * held against. One count for whoever comes, as at a session URL.
 */
export function createReference(): (request: Request) => Promise<Response> {
  let count = 0
  const say = (text: string) => ({ content: [{ type: 'text' as const, text }] })
  const add = async ({ by }: { by: number }) => {
    if (count === 10) return { ...say('This session is over.'), isError: true }
    if (count + by > 10) return { ...say('That is more than ten.'), isError: true }
    count += by
    const told = count === 10 ? `Added ${by}.` : `Added ${by}.\nThe count is ${count}.`
    return { ...say(told), structuredContent: { count } }
  }
  const modern = createMcpHandler(
    () => {
      const server = new SecondServer(INFO, { instructions: 'Count to ten.' })
      server.registerTool('add', TOOL, add)
      return server
    },
    { legacy: 'reject', keepAliveMs: 0 },
  )
  return async (request) => {
    if (!(await isLegacyRequest(request))) return modern.fetch(request)
    const server = new FirstServer(INFO, { instructions: 'Count to ten.' })
    server.registerTool('add', TOOL, add)
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
    await server.connect(transport as Parameters<FirstServer['connect']>[0])
    return transport.handleRequest(request)
  }
}
