// An MCP server that says its answers over its pipes in pieces, and rubbish between them: `say` gives back a text, cut
// at the bytes that `cuts` names; `fill` gives as many characters as it is asked for.
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setImmediate as soon } from 'node:timers/promises'

const tool = (name: string) => ({ name, inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } })
const capabilities = { tools: {} }
const serverInfo = { name: 'piecewise', version: '1.0.0' }

function resultOf(method: string, params: Record<string, never>): object {
  if (method === 'initialize') return { protocolVersion: params.protocolVersion, capabilities, serverInfo }
  if (method === 'tools/list') return { tools: [tool('say'), tool('fill')] }
  const { name, arguments: args } = params as unknown as { name: string; arguments: { text: string; length: number } }
  const text = name === 'say' ? args.text : 'x'.repeat(args.length)
  return { content: [{ type: 'text', text }] }
}

async function write(bytes: Buffer): Promise<void> {
  if (!process.stdout.write(bytes)) await once(process.stdout, 'drain')
  await soon()
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params = {} } = JSON.parse(line)
  if (id === undefined) continue
  const { cuts = [], rubbish = '' } = params.arguments ?? {}
  const said = Buffer.from(`${rubbish}${JSON.stringify({ jsonrpc: '2.0', id, result: resultOf(method, params) })}\r\n`)
  let from = 0
  for (const cut of [...(cuts as number[]).map((at) => at % said.length).sort((a, b) => a - b), said.length]) {
    await write(said.subarray(from, cut))
    from = cut
  }
}
