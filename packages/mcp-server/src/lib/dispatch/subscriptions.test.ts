import { request as httpRequest } from 'node:http'
import { PassThrough, Writable } from 'node:stream'
import {
  StreamableHTTPClientTransport as ModernHttpTransport,
  Client as ModernSdkClient,
} from '@modelcontextprotocol/client'
import { describe, expect, it, onTestFinished } from 'vitest'
import { MODERN_META, modernHeaders } from '../fixtures/official-clients.fixture.ts'
import { connectFirst, STATE, servePlainWorlds, serveWorlds, sessionUrl } from '../fixtures/resource-readers.fixture.ts'
import { tally } from '../fixtures/tally.fixture.ts'
import { createTestHost, initialize, rpc, send } from '../fixtures/testbed.fixture.ts'
import { serveStdio } from '../stdio/serve-stdio.ts'
import { inProcess } from './in-process.ts'

describe('a subscription', () => {
  it('ends with the server, which says so in the stateless version', async () => {
    const served = await serveWorlds()
    const client = new ModernSdkClient({ name: 'x', version: '1' }, { versionNegotiation: { mode: 'auto' } })
    onTestFinished(() => client.close())
    await client.connect(new ModernHttpTransport(new URL(await sessionUrl(served))))
    const subscription = await client.listen({ resourceSubscriptions: [STATE] })
    expect(await served.server.drain()).toBe(0)
    expect(await subscription.closed).toBe('graceful')
  })

  it('to nothing that exists ends at once', async () => {
    const { server } = await serveWorlds()
    const client = new ModernSdkClient({ name: 'x', version: '1' }, { versionNegotiation: { mode: 'auto' } })
    onTestFinished(() => client.close())
    await client.connect(new ModernHttpTransport(new URL(server.agentUrl)))
    const subscription = await client.listen({
      toolsListChanged: true,
      resourceSubscriptions: ['episodic://session/mcp_nonsense/state'],
    })
    expect(subscription.honoredFilter).toEqual({})
    expect(await subscription.closed).toBe('graceful')
  })

  it('notifies a client that reads slowly once of several changes', async () => {
    const { host } = createTestHost({ environments: [tally] })
    const lines: string[] = []
    const blocked: (() => void)[] = []
    let written = Promise.withResolvers<void>()
    const output = new Writable({
      highWaterMark: 1,
      decodeStrings: false,
      write(text: string, _, done) {
        lines.push(...text.trim().split('\n'))
        written.resolve()
        blocked.push(done)
      },
    })
    const next = async () => {
      while (lines.length === 0) await written.promise
      written = Promise.withResolvers()
      return JSON.parse(lines.shift() as string)
    }
    const unblock = () => {
      for (const done of blocked.splice(0)) done()
    }
    const input = new PassThrough()
    const served = serveStdio(host, { input, output })
    const say = (id: number, method: string, params: object) =>
      input.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: MODERN_META } })}\n`)
    say(1, 'tools/call', { name: 'create_tally', arguments: {} })
    const { tally_id } = (await next()).result.structuredContent
    unblock()
    const uri = `episodic://session/${tally_id}/state`
    say(2, 'subscriptions/listen', { notifications: { resourceSubscriptions: [uri] } })
    expect(await next()).toMatchObject({ method: 'notifications/subscriptions/acknowledged' })
    // The output stays blocked while the session is played.
    const world = { by: 'argument', token: null, environment: 'tally' } as const
    const channel = inProcess(host, { endpoint: 'agent', principal: null, address: world })
    for (let i = 0; i < 9; i++) await channel.request('tools/call', { name: 'add', arguments: { tally_id, by: 1 } })
    input.end()
    const methods: string[] = []
    for (let message = { method: '' }; message.method !== undefined; ) {
      unblock()
      message = await next()
      methods.push(message.method)
    }
    unblock()
    await served
    expect(methods.filter((method) => method === 'notifications/resources/updated').length).toBeLessThanOrEqual(2)
    expect(methods).toContain('notifications/resources/updated')
  })

  it('is bounded for each client', async () => {
    const { server } = await serveWorlds()
    const client = new ModernSdkClient({ name: 'x', version: '1' }, { versionNegotiation: { mode: 'auto' } })
    onTestFinished(() => client.close())
    await client.connect(new ModernHttpTransport(new URL(server.agentUrl)))
    const uris: string[] = []
    for (let i = 0; i < 65; i++) {
      const { structuredContent } = await client.callTool({ name: 'create_tally', arguments: {} })
      uris.push(`episodic://session/${(structuredContent as { tally_id: string }).tally_id}/state`)
    }
    await expect(client.listen({ resourceSubscriptions: uris })).rejects.toThrow(/64 resources at once/)
    const subscription = await client.listen({ resourceSubscriptions: uris.slice(1) })
    await subscription.close()
  })

  it('is bounded for each server: one more is refused, and its client plays all the same', async () => {
    const served = await servePlainWorlds({ limits: { streams: 1 } })
    const { server } = served
    const reader = await connectFirst(server.agentUrl)
    await reader.subscribe(STATE)
    const headers = await initialize(server.agentUrl)
    const refused = await send(server.agentUrl, { method: 'GET', headers })
    expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
    const listening = await rpc(
      await sessionUrl(served),
      'subscriptions/listen',
      { notifications: { resourceSubscriptions: [STATE] }, _meta: MODERN_META },
      modernHeaders('subscriptions/listen'),
    )
    expect(listening).toMatchObject({ status: 503, json: { error: { data: { code: 'capacity' } } } })
    const played = await rpc(server.agentUrl, 'tools/call', { name: 'add', arguments: { by: 1 } }, headers)
    expect(played.json.result).toMatchObject({ structuredContent: { count: 1 } })
    await reader.call('add', { by: 1 })
    expect(await reader.updated()).toBe(STATE)
  })

  it('is no longer counted once its client disconnects', async () => {
    const { server } = await servePlainWorlds({ limits: { streams: 1 } })
    for (let i = 0; i < 3; i++) {
      const headers = await initialize(server.agentUrl)
      const request = httpRequest(server.agentUrl, { headers: { ...headers, accept: 'text/event-stream' } })
      const opened = new Promise<number | undefined>((resolve) =>
        request.once('response', ({ statusCode }) => resolve(statusCode)),
      )
      request.end()
      expect(await opened).toBe(200)
      expect((await send(server.agentUrl, { method: 'GET', headers })).status).toBe(409)
      const closed = new Promise((resolve) => request.once('close', resolve))
      request.destroy()
      await closed
      // The server is notified of the closed connection later.
      await expect.poll(() => openAndClose(server.agentUrl)).toBe(200)
    }
  })

  it('wants a session that there is, and ends with it', async () => {
    const { server } = await servePlainWorlds()
    const listen = (headers: Record<string, string>, url = server.agentUrl) => send(url, { method: 'GET', headers })
    expect((await listen({})).status).toBe(400)
    expect((await listen({ 'mcp-session-id': 'mcp_nonsense' })).status).toBe(404)
    expect((await listen({}, server.sessionUrl('nonsense'))).status).toBe(404)
    const headers = await initialize(server.agentUrl)
    expect((await listen({ ...headers, 'mcp-protocol-version': '1999-01-01' })).status).toBe(400)
    const stream = listen(headers)
    await expect.poll(async () => (await listen(headers)).status).toBe(409)
    await send(server.agentUrl, { method: 'DELETE', headers })
    expect(await stream).toMatchObject({ status: 200, headers: { 'content-type': 'text/event-stream' }, text: '' })
    expect((await listen(headers)).status).toBe(404)
  })
})

/** Opens a stream and closes it again: the status of the answer. */
async function openAndClose(url: string): Promise<number | undefined> {
  const headers = await initialize(url)
  return new Promise((resolve) => {
    const request = httpRequest(url, { headers: { ...headers, accept: 'text/event-stream' } }, ({ statusCode }) => {
      request.destroy()
      resolve(statusCode)
    })
    request.on('error', () => {})
    request.end()
  })
}
