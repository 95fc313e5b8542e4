/**
 * The counter world written with an MCP SDK alone, behind the SDK's own HTTP transport, in another process. Its
 * argument is the SDK: `first`, for the session-based protocol version, with a transport session for each count; or
 * `second`, for the stateless version, in which a call names its count by an argument.
 */
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { McpServer as FirstServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { createMcpHandler, McpServer as SecondServer } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { answerWithCpuTime } from '../cpu-time.ts'

const INFO = { name: 'counter', version: '1.0.0' }
const INPUT = z.object({ note: z.string(), n: z.int() })
const OUTPUT = z.object({ note: z.string(), total: z.int() })
const TOOL = { description: 'Add a number.', outputSchema: OUTPUT }

/** Returns a function that adds to a count and answers like the counter world. */
function createCounter(): (input: z.infer<typeof INPUT>) => {
  content: { type: 'text'; text: string }[]
  structuredContent: z.infer<typeof OUTPUT>
} {
  let total = 0
  return ({ note, n }) => {
    total = (total + n) % 1_000_003
    const text = `Added ${n}.\nThe total is ${total}.`
    return { content: [{ type: 'text', text }], structuredContent: { note, total } }
  }
}

const transports = new Map<string, StreamableHTTPServerTransport>()

async function answerFirst(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const message = await json(request)
  const known = transports.get(String(request.headers['mcp-session-id']))
  if (known) return known.handleRequest(request, response, message)
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse: true,
    onsessioninitialized: (id) => void transports.set(id, transport),
  })
  const server = new FirstServer(INFO)
  server.registerTool('add', { ...TOOL, inputSchema: INPUT }, createCounter())
  await server.connect(transport as Parameters<FirstServer['connect']>[0])
  await transport.handleRequest(request, response, message)
}

const counters = new Map<string, ReturnType<typeof createCounter>>()
const handler = createMcpHandler(
  () => {
    const server = new SecondServer(INFO)
    const inputSchema = INPUT.extend({ counter: z.string() })
    server.registerTool('add', { ...TOOL, inputSchema }, ({ counter, ...input }) => {
      const known = counters.get(counter) ?? createCounter()
      counters.set(counter, known)
      return known(input)
    })
    return server
  },
  { legacy: 'reject', keepAliveMs: 0 },
)

async function answerSecond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const parsedBody = await json(request)
  const headers = Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)])
  const asked = new Request(`http://${request.headers.host}${request.url}`, { method: 'POST', headers })
  const answer = await handler.fetch(asked, { parsedBody })
  const body = Buffer.from(await answer.arrayBuffer())
  response.writeHead(answer.status, { ...Object.fromEntries(answer.headers), 'content-length': body.length }).end(body)
}

const server = createServer(process.argv[2] === 'first' ? answerFirst : answerSecond)
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
answerWithCpuTime()
process.on('disconnect', () => process.exit())
