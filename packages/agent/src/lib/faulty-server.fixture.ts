// A server that shakes hands well and answers calls badly: over HTTP, in this process. Each tool is a fault; its twin,
// `look_<fault>`, claims to change nothing.
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

type Answer = (response: ServerResponse, id: number) => unknown

const json = (response: ServerResponse, status: number, body: unknown) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))

/** What is wrong with the answers. */
const FAULTS: Readonly<Record<string, Answer>> = {
  malformed: (response, id) => json(response, 200, { jsonrpc: '2.0', id, result: { content: 'no list' } }),
  nonsense: (response) => json(response, 200, { what: 'is this' }),
  broken_json: (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"jsonrpc":'),
  page: (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Welcome</h1>'),
  endless: (response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    const more = () => {
      while (!response.destroyed && response.write(' '.repeat(1_048_576)));
    }
    response.on('drain', more)
    more()
  },
  busy: (response) => json(response, 429, { error: { message: 'Too many requests.' } }),
  away: (response) => json(response, 503, { error: { message: 'Back soon.' } }),
  failing: (response) => json(response, 500, { error: { message: 'A null.' } }),
  forbidden: (response) => json(response, 403, { error: { message: 'Not you.' } }),
  cut_off: (response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(': soon\n\n'),
  torn: (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': soon\n\n')
    setImmediate(() => response.destroy())
  },
  refusing: (response, id) => json(response, 200, { jsonrpc: '2.0', id, error: { code: -32603, message: 'I broke.' } }),
}

/** Serves the faults. */
export async function serveFaults(): Promise<{ readonly url: string } & AsyncDisposable> {
  const tools = Object.keys(FAULTS).flatMap((name) => [
    { name, inputSchema: { type: 'object' } },
    { name: `look_${name}`, inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } },
  ])
  const server = createServer(async (request, response) => {
    const text = (await request.toArray()).join('')
    if (request.method !== 'POST') return response.writeHead(405).end()
    const { id, method, params } = JSON.parse(text)
    if (id === undefined) return response.writeHead(202).end()
    const say = (result: object) => json(response, 200, { jsonrpc: '2.0', id, result })
    if (method === 'initialize') {
      const serverInfo = { name: 'faults', version: '1.0.0' }
      return say({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo })
    }
    if (method === 'tools/list') return say({ tools })
    if (method === 'ping') return say({})
    FAULTS[params.name.replace(/^look_/, '')]!(response, id)
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
