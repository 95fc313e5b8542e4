import { DEFAULT_SEAT, META, METHODS, type OpenResult } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { halve } from '../fixtures/number-guessing.fixture.ts'
import {
  connectClient,
  controlHeaders,
  createTestHost,
  INITIALIZE,
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
  it('lets a plain MCP client play a whole episode, in a world that opens at its first call', async () => {
    const { host, server } = await serveTestHost()
    const { client, transport } = await connectClient(server.agentUrl)
    expect(transport.sessionId).toMatch(/^mcp_/)
    expect(client.getServerVersion()).toMatchObject({ name: 'number-guessing', version: '1.0.0' })
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['guess'])
    expect((await host.list({ limit: 10 })).total).toBe(0)

    const guesses = await halve(1, 100, async (value) => {
      const result = await client.callTool(guess(value))
      expect(result.content).toMatchObject([{ type: 'text', text: expect.stringContaining(`${value} is `) }])
      expect(result).not.toHaveProperty('isError')
      return (result.structuredContent as { hint: string }).hint
    })
    expect(guesses).toBeLessThanOrEqual(7)
    const { sessions } = await host.list({ limit: 10 })
    expect(sessions).toMatchObject([{ steps: guesses, end: { kind: 'terminated', reason: 'solved' } }])
    expect(await client.callTool(guess(1))).toMatchObject({
      isError: true,
      content: [{ text: /^This session is over/ }],
    })
  })

  it('keeps two clients apart', async () => {
    const { host, server } = await serveTestHost()
    const left = (await connectClient(server.agentUrl)).client
    const right = (await connectClient(server.agentUrl)).client
    const textOf = async (client: typeof left, value: number) =>
      JSON.stringify((await client.callTool(guess(value))).content)
    expect(await textOf(left, 1)).toContain('7 guesses left')
    expect(await textOf(right, 1)).toContain('7 guesses left')
    expect(await textOf(left, 2)).toContain('6 guesses left')
    expect(await textOf(right, 2)).toContain('6 guesses left')
    expect((await host.list({ limit: 10 })).total).toBe(2)
  })

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

  it('answers 404 for a capability that is forged, not of this endpoint, or of a closed session', async () => {
    const { server } = await serveTestHost()
    const { session, id, seats } = await openOverHttp(server)
    const capability = seats[DEFAULT_SEAT]?.capability as string
    const answers: RawAnswer[] = []
    for (const name of [`${capability.slice(0, -1)}_`, session, id, 'x', capability.toUpperCase()])
      for (const method of ['tools/call', 'tools/list', 'initialize', 'ping'])
        answers.push(await rpc(server.sessionUrl(name), method, method === 'initialize' ? INITIALIZE : guess(1)))
    expect((await rpc(server.sessionUrl(capability), 'tools/call', guess(1))).status).toBe(200)
    await rpc(server.trainerUrl, METHODS.close, { session }, controlHeaders(server))
    answers.push(await rpc(server.sessionUrl(capability), 'tools/call', guess(1)))
    for (const { status, text } of answers) {
      expect(status).toBe(404)
      expect(text).toBe(answers[0]?.text)
    }
  })

  it('is useless at the trainer endpoint', async () => {
    const { server } = await serveTestHost()
    const { seats } = await openOverHttp(server)
    const meta = { [META.session]: seats[DEFAULT_SEAT]?.capability as string }
    const params = { ...guess(1), _meta: meta }
    const { json } = await rpc(server.trainerUrl, 'tools/call', params, controlHeaders(server))
    expect(json.error?.data).toEqual({ code: 'session-not-found' })
  })
})

describe('the trainer endpoint', () => {
  it('opens, steps, watches, lists and closes', async () => {
    const { server } = await serveTestHost()
    const headers = controlHeaders(server)
    const ask = async (method: string, params: object) => (await rpc(server.trainerUrl, method, params, headers)).json
    expect((await ask(METHODS.list, {})).result?.environments).toHaveLength(2)
    const { session, id } = await openOverHttp(server, { params: { low: 5, high: 5 } })
    const step = { ...guess(5), _meta: { [META.session]: session, [META.seq]: 0 } }
    const { result } = await ask('tools/call', step)
    expect(result).toMatchObject({
      content: [{ type: 'text', text: '5 is correct.' }],
      structuredContent: { value: 5, hint: 'correct' },
      _meta: { [META.step]: { seq: 1, terms: { jackpot: 1 }, end: { reason: 'solved' } } },
    })
    const replay = (await ask('tools/call', step)).result
    expect(replay).toEqual({ ...result, _meta: { ...(result?._meta as object), [META.replayed]: true } })
    expect((await ask(METHODS.state, { session })).result).toMatchObject({ state: { private: { target: 5 } } })
    expect((await ask(METHODS.sessions, {})).result).toMatchObject({ total: 1, sessions: [{ id, owner: 'control' }] })
    expect((await ask(METHODS.close, { session })).result).toEqual({ end: { kind: 'terminated', reason: 'solved' } })
    expect((await ask(METHODS.close, { session })).error?.data).toEqual({ code: 'session-not-found' })
  })

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

  it('refuses wrong parameters and names them', async () => {
    const { server } = await serveTestHost()
    const { json } = await rpc(server.trainerUrl, METHODS.open, { requestKey: 'short' }, controlHeaders(server))
    expect(json.error?.message).toContain('Wrong parameters for environment/open')
    expect(json.error?.message).toContain('requestKey')
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
