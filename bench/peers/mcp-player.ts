import { HttpConnection } from './http-connection.ts'
import { findNumber, type Player } from './player.ts'

const VERSION = '2025-11-25'
const INITIALIZE = {
  protocolVersion: VERSION,
  capabilities: {},
  clientInfo: { name: 'bench', version: '1.0.0' },
}

/** Returns a player of MCP over streamable HTTP. An episode is an MCP session of its own. */
export function createMcpPlayer(port: number): Player {
  const connection = new HttpConnection(port)
  let id = 0
  const post = (body: object, headers: Readonly<Record<string, string>>) =>
    connection.send({
      method: 'POST',
      path: '/mcp',
      headers: { Accept: 'application/json, text/event-stream', ...headers },
      body: { jsonrpc: '2.0', ...body },
    })
  return {
    // Plain clients cannot choose the seed.
    async play() {
      const begun = await post({ id: id++, method: 'initialize', params: INITIALIZE }, {})
      const headers = {
        'MCP-Session-Id': begun.header('mcp-session-id') ?? '',
        'MCP-Protocol-Version': VERSION,
      }
      await post({ method: 'notifications/initialized' }, headers)
      const steps = await findNumber(async (value) => {
        const params = { name: 'guess', arguments: { value } }
        const { body } = await post({ id: id++, method: 'tools/call', params }, headers)
        return parseMessage(body).result?.structuredContent?.hint ?? body
      })
      await connection.send({ method: 'DELETE', path: '/mcp', headers })
      return steps
    },
    close: () => connection.close(),
  }
}

interface Message {
  readonly result?: { readonly structuredContent?: { readonly hint: string } }
}

/** Parses the one message of a body, which is JSON or a stream of events. */
function parseMessage(body: string): Message {
  const start = body.startsWith('{') ? 0 : body.indexOf('data: {') + 'data: '.length
  return JSON.parse(body.startsWith('{') ? body : (body.slice(start).split(/\r?\n/, 1)[0] as string))
}
