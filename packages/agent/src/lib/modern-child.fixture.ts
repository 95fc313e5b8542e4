// An MCP server that speaks 2026-07-28 alone, over its pipes.
import { createInterface } from 'node:readline'

const VERSION = '2026-07-28'
const cached = { ttlMs: 0, cacheScope: 'private' }
const results: Readonly<Record<string, object>> = {
  'server/discover': { supportedVersions: [VERSION], capabilities: { tools: {} }, ...cached },
  'tools/list': { tools: [{ name: 'ask', inputSchema: { type: 'object' } }], ...cached },
  'tools/call': { content: [{ type: 'text', text: 'yes' }] },
}
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line)
  if (id === undefined) return
  const result = results[method]
  const error = { code: -32601, message: `There is no ${method}.` }
  const answer = result ? { result: { resultType: 'complete', ...result } } : { error }
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`)
})
