import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

// An agent in a process of its own, in one seat of Nim. It knows only the session URL of that seat, and leaves a
// multiple of four stones where it can. It exits when the episode ends, or after the number of turns that it is given.

const { EPISODIC_MCP_URL: url = '', TURNS = '99' } = process.env
const client = new Client({ name: 'nim-agent', version: '1.0.0' })
await client.connect(new StreamableHTTPClientTransport(new URL(url)))
const call = async (name: string, args: Record<string, number>) => {
  const { structuredContent } = await client.callTool({ name, arguments: args })
  return structuredContent as { stones: number; seat: string; turn: string[] } | undefined
}
let view = await call('wait', {})
for (let turns = 0; turns < Number(TURNS) && view?.turn.includes(view.seat); turns++)
  view = await call('take', { count: view.stones % 4 || 1 })
await client.close()
process.exitCode = Number(process.env.STATUS ?? 0)
