import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop } from '../../fixtures/episodic.fixture.ts'

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
  it('names the other endpoint where trainers have theirs', async () => {
    const server = await workshop.serve([exampleWorld('number-guessing'), exampleWorld('frozen-lake')])
    const { status, out, err } = await workshop.main(['tools', '--url', server.url])
    expect({ status, out }).toEqual({ status: 1, out: '' })
    expect(err).toMatch(/^There are no tools here\. .* ends in \/mcp\.$/m)
    expect((await workshop.main(['tools', '--url', server.agentUrl])).out).toContain('guess')
  })

  it('says so where a server has none', async () => {
    writeFileSync(
      join(workshop.folder, 'none.mjs'),
      `import { createInterface } from 'node:readline'
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line)
  const results = {
    initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } },
    'tools/list': { tools: [] },
  }
  const error = { code: -32601, message: 'There is no such method.' }
  const answer = results[method] ? { result: results[method] } : { error }
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, ...answer }))
}\n`,
    )
    const none = { command: process.execPath, args: [join(workshop.folder, 'none.mjs')] }
    writeFileSync(join(workshop.folder, 'none.json'), JSON.stringify({ mcpServers: { none } }))
    const listed = await workshop.main(['tools', '--config', 'none.json'])
    expect(listed).toMatchObject({ status: 1, out: '', err: expect.stringMatching(/^There are no tools here\./) })
  })
})
