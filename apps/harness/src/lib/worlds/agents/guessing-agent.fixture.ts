import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

// An agent in a process of its own. It knows only the address of an MCP server, and guesses by bisection. It exits when
// the episode ends, or after the number of guesses that it is given.

const { EPISODIC_MCP_URL: url = '', EPISODIC_OBSERVATION: observation = '', GUESSES = '99' } = process.env
const client = new Client({ name: 'guessing-agent', version: '1.0.0' })
await client.connect(new StreamableHTTPClientTransport(new URL(url)))
let [low, high] = (/from (-?\d+) to (-?\d+)/.exec(observation) ?? []).slice(1).map(Number) as [number, number]
for (let guesses = 0; guesses < Number(GUESSES) && low <= high; guesses++) {
  const value = Math.floor((low + high) / 2)
  const { structuredContent } = await client.callTool({ name: 'guess', arguments: { value } })
  const { hint } = structuredContent as { hint: string }
  if (hint === 'correct') break
  if (hint === 'higher') low = value + 1
  else high = value - 1
}
await client.close()
process.exitCode = Number(process.env.STATUS ?? 0)
