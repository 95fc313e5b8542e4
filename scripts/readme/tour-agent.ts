// The agent that the README calls `my-agent`: a program that gets the mcpServers file, the first observation and the
// answers of the tools, and knows nothing else of the world. It guesses by halving.
import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'

const { values } = parseArgs({ options: { 'mcp-config': { type: 'string' } } })
const config = JSON.parse(await readFile(values['mcp-config'] as string, 'utf8'))
const { url } = config.mcpServers.world
const headers: Record<string, string> = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
}

async function ask(method: string, params: object) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const response = await fetch(url, { method: 'POST', headers, body })
  const session = response.headers.get('mcp-session-id')
  if (session) headers['mcp-session-id'] = session
  const { result, error } = JSON.parse(await response.text())
  if (error) throw new Error(error.message)
  return result
}

await ask('initialize', {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'my-agent', version: '1' },
})
const { EPISODIC_OBSERVATION: observation = '' } = process.env
const range = /from (-?\d+) to (-?\d+)/.exec(observation) ?? []
let [low, high] = [Number(range[1]), Number(range[2])]
while (low <= high) {
  const value = Math.floor((low + high) / 2)
  const { structuredContent } = await ask('tools/call', { name: 'guess', arguments: { value } })
  if (structuredContent.hint === 'correct') break
  if (structuredContent.hint === 'higher') low = value + 1
  else high = value - 1
}
