import { DEFAULT_SEAT, META, METHODS, type OpenResult } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import {
  connectClient,
  controlHeaders,
  createTestHost,
  initialize,
  openOverHttp,
  type RawAnswer,
  rpc,
  send,
  serve,
  serveTestHost,
} from '../fixtures/testbed.fixture.ts'
import type { Host, TrainerSessionRef } from '../host/host.ts'
import { serveHttp } from './serve-http.ts'

const guess = (value: number) => ({ name: 'guess', arguments: { value } })

describe('the agent endpoint', () => {
  it('answers a refusal in a way that a model can read and mend', async () => {
    const { server } = await serveTestHost()
    const { client } = await connectClient(server.agentUrl)
    expect(await client.callTool({ name: 'guess', arguments: { value: 'fifty' } })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('value: Invalid input: expected number, received string') }],
    })
    expect(await client.callTool({ name: 'peek', arguments: {} })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('The tools are: guess.') }],
    })
  })

  it('serves another environment at its own path, and none at any other', async () => {
    const { server } = await serveTestHost()
    const base = `http://127.0.0.1:${server.port}`
    const { client } = await connectClient(`${base}/mcp/e/workshop`)
    expect((await client.callTool({ name: 'take', arguments: {} })).structuredContent).toMatchObject({ stock: 2 })
    for (const path of ['/', '/mcp/e/chess', '/mcp/e/', '/mcp/s/', '/MCP', '/mcp/%2f', '/mcp//x'])
      expect((await send(base + path, { body: '{}' })).status, path).toBe(404)
  })

  it('keeps its own methods apart from the trainer endpoint’s, which it does not know', async () => {
    const { server } = await serveTestHost()
    const headers = await initialize(server.agentUrl)
    const unknown = await rpc(server.agentUrl, 'environment/nonsense', {}, headers)
    expect(unknown.json.error).toMatchObject({ code: -32601 })
    for (const method of Object.values(METHODS)) {
      const answer = await rpc(server.agentUrl, method, {}, headers)
      expect({ ...answer, headers: undated(answer) }).toEqual({ ...unknown, headers: undated(unknown) })
    }
  })
})

describe('a session URL', () => {
  it('may be the only one of a server, at the address of the agent endpoint', async () => {
    const { host } = createTestHost()
    const server = await serve(host, { session: { environment: 'number-guessing', seed: 'only' } })
    const { session } = server.session as OpenResult
    const { client } = await connectClient(server.agentUrl)
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['guess'])
    expect(JSON.stringify(await client.callTool(guess(1)))).toContain('1 is higher')
    for (const name of ['number-guessing', 'workshop'])
      expect((await send(`${server.agentUrl}/e/${name}`, { body: '{}' })).status).toBe(404)
    const { json } = await rpc(server.trainerUrl, METHODS.watch, { session }, controlHeaders(server))
    expect(json.result?.steps).toHaveLength(1)
    expect((await host.list({ limit: 10 })).total).toBe(1)
  })

  it('never ends its world when a client hangs up', async () => {
    const { server } = await serveTestHost()
    const url = server.sessionUrl((await openOverHttp(server)).seats[DEFAULT_SEAT]?.capability as string)
    await rpc(url, 'tools/call', guess(1))
    const other = await initialize(server.agentUrl)
    expect((await send(url, { method: 'DELETE' })).status).toBe(204)
    expect((await send(url, { method: 'DELETE', headers: other })).status).toBe(204)
    expect((await rpc(url, 'tools/call', guess(2))).text).toContain('6 guesses left')
  })
})

describe('the trainer endpoint', () => {
  it.each([
    ['no handle', {}, /names its session/],
    ['a sequence number below 0', { [META.session]: 'x', [META.seq]: -1 }, /whole number from 0 up/],
    ['an epoch that is no number', { [META.session]: 'x', [META.epoch]: 'one' }, /whole number from 0 up/],
  ])('refuses a step with %s', async (_, meta, message) => {
    const { server } = await serveTestHost()
    const { json } = await rpc(server.trainerUrl, 'tools/call', { ...guess(1), _meta: meta }, controlHeaders(server))
    expect(json.error?.code).toBe(-32602)
    expect(json.error?.message).toMatch(message)
  })

  it('speaks MCP, and says which extension it has', async () => {
    const { server } = await serveTestHost()
    const { client } = await connectClient(server.trainerUrl, controlHeaders(server))
    expect(client.getServerCapabilities()).toMatchObject({ experimental: { 'dev.episodic/environment': {} } })
  })

  it('stops waiting when the client goes away', async () => {
    const { host } = createTestHost()
    const watches: Promise<unknown>[] = []
    const resolve = host.resolve.bind(host)
    host.resolve = (async (principal: string | null, address: Parameters<typeof resolve>[1]) => {
      const session = (await resolve(principal, address)) as TrainerSessionRef
      const watch = session.watch.bind(session)
      session.watch = (range) => {
        const watching = watch(range)
        watches.push(watching)
        return watching
      }
      return session
    }) as Host['resolve']
    const server = await serve(host)
    const { session } = await openOverHttp(server)
    const client = new AbortController()
    const gone = fetch(server.trainerUrl, {
      method: 'POST',
      headers: { ...controlHeaders(server), 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: METHODS.watch, params: { session, wait: 60 } }),
      signal: client.signal,
    }).catch(() => 'gone')
    await expect.poll(() => watches.length).toBe(1)
    client.abort()
    expect(await gone).toBe('gone')
    // Nobody moves the clock, so only the client's leaving can end the wait.
    expect(await watches[0]).toEqual({ steps: [], end: null })
  })
})

describe('serveHttp', () => {
  it('says so when the port is in use', async () => {
    const { host, server } = await serveTestHost()
    await expect(serveHttp(host, { port: server.port })).rejects.toThrow(
      expect.objectContaining({ code: 'address-in-use', message: expect.stringContaining(`Port ${server.port}`) }),
    )
  })

  it('can be disposed of twice, and leaves the host alone', async () => {
    const { host, server } = await serveTestHost()
    await server[Symbol.asyncDispose]()
    await server[Symbol.asyncDispose]()
    const again = await serve(host)
    expect((await openOverHttp(again)).id).toMatch(/^[\w-]{22}$/)
  })
})

/** Headers without what the clock decides. */
function undated({ headers: { date: _, ...headers } }: RawAnswer): object {
  return headers
}
