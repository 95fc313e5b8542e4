import { completable } from '@modelcontextprotocol/sdk/server/completable.js'
import { McpServer as FirstServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import {
  completable as completableInSecond,
  createMcpHandler,
  isLegacyRequest,
  McpServer as SecondServer,
} from '@modelcontextprotocol/server'
import { z } from 'zod'

const INFO = { name: 'tally', title: 'Count to ten.', version: '1.0.0' }
const TOOL = {
  description: 'Add to the count.',
  inputSchema: z.object({ by: z.int().min(1).max(5) }),
  outputSchema: z.object({ count: z.int() }),
}

/** What is there besides the tool, as its author would register it in either SDK. */
const STATE = 'episodic://session/state'
const RESOURCE = { title: 'How things stand', description: 'What a player may see.', mimeType: 'application/json' }
const PROMPT = { title: 'How to play', description: 'What this world is about.' }
const read = (count: number) => ({
  contents: [{ uri: STATE, mimeType: RESOURCE.mimeType, text: JSON.stringify({ count }) }],
})
const instruct = ({ tool }: { tool?: string | undefined }) => {
  if (tool !== undefined && tool !== 'add') throw Object.assign(new Error('There is no such tool.'), { code: -32602 })
  return { messages: [{ role: 'user' as const, content: { type: 'text' as const, text: 'Count to ten.' } }] }
}
const complete = (value: string | undefined) => ['add'].filter((name) => name.startsWith(value ?? ''))

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
      server.registerResource('state', STATE, RESOURCE, () => read(count))
      const argsSchema = z.object({ tool: completableInSecond(z.string(), complete).optional() })
      server.registerPrompt('instructions', { ...PROMPT, argsSchema }, instruct)
      return server
    },
    { legacy: 'reject', keepAliveMs: 0 },
  )
  return async (request) => {
    if (!(await isLegacyRequest(request))) return modern.fetch(request)
    const server = new FirstServer(INFO, { instructions: 'Count to ten.' })
    server.registerTool('add', TOOL, add)
    server.registerResource('state', STATE, RESOURCE, () => read(count))
    const argsSchema = { tool: completable(z.string(), complete).optional() }
    server.registerPrompt('instructions', { ...PROMPT, argsSchema }, instruct)
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
    await server.connect(transport as Parameters<FirstServer['connect']>[0])
    return transport.handleRequest(request)
  }
}
