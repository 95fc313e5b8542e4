/** The least that is an MCP server over its pipes, for what is about starting and ending one. */
import { createInterface } from 'node:readline'

const info = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'least', version: '1' } }
const results: Readonly<Record<string, object>> = {
  initialize: info,
  'tools/list': { tools: [{ name: 'ask', inputSchema: { type: 'object' } }] },
  'tools/call': { content: [{ type: 'text', text: 'yes' }] },
}
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line) as { id?: number; method: string }
  if (id !== undefined)
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: results[method] ?? {} })}\n`)
})
