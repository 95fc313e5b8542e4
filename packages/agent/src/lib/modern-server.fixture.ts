// An MCP server that speaks 2026-07-28 alone, and keeps state by handles: over HTTP, in this process.
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

const VERSION = '2026-07-28'

/** Serves a counter whose handle is made by a tool. */
export async function serveModern(): Promise<{ readonly url: string } & AsyncDisposable> {
  const counts = new Map<string, number>()
  const tools = [
    { name: 'create_counter', description: 'Makes a counter.', inputSchema: { type: 'object' } },
    {
      name: 'count',
      description: 'Counts.',
      inputSchema: { type: 'object', properties: { counter_id: { type: 'string' } }, required: ['counter_id'] },
    },
  ]
  const call = (name: string, args: { counter_id?: string }) => {
    const id = name === 'create_counter' ? `counter-${counts.size + 1}` : String(args.counter_id)
    counts.set(id, (counts.get(id) ?? -1) + 1)
    return { content: [{ type: 'text', text: name === 'create_counter' ? id : String(counts.get(id)) }] }
  }
  const answer = (method: string, params: { name: string; arguments: object }) => {
    const cached = { ttlMs: 0, cacheScope: 'private' }
    if (method === 'server/discover') return { supportedVersions: [VERSION], capabilities: { tools: {} }, ...cached }
    if (method === 'tools/list') return { tools, ...cached }
    return call(params.name, params.arguments)
  }
  const say = (response: ServerResponse, status: number, body: object) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  const server = createServer(async (request, response) => {
    const text = (await request.toArray()).join('')
    if (request.method !== 'POST') return response.writeHead(405).end()
    const { id, method, params } = JSON.parse(text)
    if (request.headers['mcp-protocol-version'] !== VERSION) {
      const error = { code: -32022, message: 'Unsupported protocol version.', data: { supported: [VERSION] } }
      return say(response, 400, { jsonrpc: '2.0', id, error })
    }
    say(response, 200, { jsonrpc: '2.0', id, result: { resultType: 'complete', ...answer(method, params) } })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
