import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { describe, expect, it, onTestFinished } from 'vitest'
import { OFFICIAL_CLIENTS } from '../fixtures/eras.fixture.ts'
import { INITIALIZE, initialize, rpc, send, serveTestHost } from '../fixtures/testbed.fixture.ts'
import type { HttpOptions } from '../http/serve-http.ts'
import { type MountableServer, mountServer } from './mount-server.ts'

const content = [{ type: 'text' as const, text: 'Hello.' }]

/** Serves an MCP server that says hello, says something before it, or waits until the test lets it. */
async function serveMounted({ sessions, ...options }: HttpOptions & { sessions?: number } = {}) {
  const gate = Promise.withResolvers<void>()
  const called = Promise.withResolvers<void>()
  const info = { name: 'mounted', version: '1.0.0' }
  const mount = mountServer({
    ...(sessions !== undefined && { sessions }),
    legacy() {
      const server = new Server(info, { capabilities: { tools: {} } })
      server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [] }))
      server.setRequestHandler(CallToolRequestSchema, async ({ params }, { sendNotification }) => {
        called.resolve()
        if (params.name === 'wait') await gate.promise
        if (params.name === 'tell')
          await sendNotification({ method: 'notifications/progress', params: { progressToken: 1, progress: 1 } })
        return { content }
      })
      return server as unknown as MountableServer
    },
    modern: createMcpHandler(
      () => {
        const server = new McpServer(info)
        server.registerTool('hello', {}, () => ({ content }))
        return server
      },
      { legacy: 'reject', keepAliveMs: 0 },
    ).fetch,
  })
  onTestFinished(() => mount[Symbol.asyncDispose]())
  const { server } = await serveTestHost({ ...options, mount })
  return { server, url: server.agentUrl, gate, called: called.promise }
}

describe('mountServer', () => {
  it.each(Object.entries(OFFICIAL_CLIENTS))('serves the client of %s', async (_, connect) => {
    const { url } = await serveMounted()
    const client = await connect(url)
    expect(await client.callTool({ name: 'hello', arguments: {} })).toMatchObject({ content })
  })

  it('answers with JSON, and with a stream of events where something is told before', async () => {
    const { url } = await serveMounted()
    const headers = await initialize(url)
    const hello = await rpc(url, 'tools/call', { name: 'hello' }, headers)
    expect(hello.headers['content-type']).toBe('application/json')
    const body = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'tell' } })
    const told = await send(url, { headers, body })
    expect(told.headers['content-type']).toBe('text/event-stream')
    const events = [...told.text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data as string))
    expect(events).toMatchObject([{ method: 'notifications/progress' }, { id: 2, result: { content } }])
  })

  it('knows a session by its id and by whose it is, until it is ended', async () => {
    const token = (who: string) => `${who}-${'x'.repeat(22)}`
    const { url } = await serveMounted({ agentTokens: { [token('left')]: 'left', [token('right')]: 'right' } })
    const as = (who: string) => ({ authorization: `Bearer ${token(who)}` })
    const session = await initialize(url, as('left'))
    const status = async (method: string, headers: Record<string, string>) =>
      (await send(url, { method, headers, ...(method === 'POST' && { body: PING }) })).status
    expect(await status('POST', { ...session, ...as('left') })).toBe(200)
    expect(await status('POST', { ...session, ...as('right') })).toBe(404)
    expect(await status('DELETE', { ...session, ...as('right') })).toBe(404)
    expect(await status('POST', as('left'))).toBe(400)
    expect(await status('GET', { ...session, ...as('left') })).toBe(405)
    expect(await status('DELETE', { ...session, ...as('left') })).toBe(204)
    expect(await status('POST', { ...session, ...as('left') })).toBe(404)
  })

  it('answers what is in flight when its session ends, and no request twice under one id', async () => {
    const { url, called } = await serveMounted()
    const headers = await initialize(url)
    const waiting = rpc(url, 'tools/call', { name: 'wait' }, headers)
    await called
    expect(await rpc(url, 'ping', {}, headers)).toMatchObject({ status: 400, json: { error: { code: -32600 } } })
    await send(url, { method: 'DELETE', headers })
    expect((await waiting).json).toMatchObject({ id: 1, error: { code: -32000 } })
  })

  it('keeps no more sessions than it is told', async () => {
    const { url } = await serveMounted({ sessions: 1 })
    const headers = await initialize(url)
    const refused = await rpc(url, 'initialize', INITIALIZE)
    expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
    await send(url, { method: 'DELETE', headers })
    expect(await initialize(url)).toEqual({ 'mcp-session-id': expect.stringMatching(/^[\w-]{22}$/) })
  })

  it('stands behind the guards of the endpoint', async () => {
    const { url } = await serveMounted({ bodyBytes: 100 })
    expect((await send(url, { headers: { origin: 'https://evil.example' }, body: PING })).status).toBe(403)
    expect((await send(url, { body: `${PING}${' '.repeat(100)}` })).status).toBe(413)
    expect((await send(url, { body: '[1' })).status).toBe(400)
    expect((await send(url, { body: '{"jsonrpc":"2.0"}' })).status).toBe(400)
  })
})

const PING = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'ping' })
