import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { openWorkshop } from '../../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())

describe('episodic tools', () => {
  it('lists the tools on all pages of a server', async () => {
    writeFileSync(
      join(workshop.folder, 'paging.mjs'),
      `import { createInterface } from 'node:readline'
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  const page = Number(params?.cursor ?? 1)
  const tools = [{ name: 'tool-' + page, inputSchema: { type: 'object' } }]
  const results = {
    initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } },
    'tools/list': { tools, ...(page < 3 && { nextCursor: String(page + 1) }) },
  }
  const error = { code: -32601, message: 'There is no such method.' }
  const answer = results[method] ? { result: results[method] } : { error }
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, ...answer }))
}\n`,
    )
    const paging = { command: process.execPath, args: [join(workshop.folder, 'paging.mjs')] }
    writeFileSync(join(workshop.folder, 'mcp.json'), JSON.stringify({ mcpServers: { paging } }))
    const { status, out } = await workshop.main(['tools', '--json', '--config', 'mcp.json', '--server', 'paging'])
    expect(status).toBe(0)
    expect(JSON.parse(out).map(({ name }: { readonly name: string }) => name)).toEqual(['tool-1', 'tool-2', 'tool-3'])
  })
})
