import { once } from 'node:events'
import { request } from 'node:http'
import { json } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { DEFAULT_SEAT, METHODS } from '@episodic/protocol'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { controlHeaders, initialize, openOverHttp, rpc, send, serveTestHost } from '../fixtures/testbed.fixture.ts'

const guess = (value: number) => ({ name: 'guess', arguments: { value } })

describe('messages', () => {
  const message = { jsonrpc: '2.0', id: 7, method: 'ping' }
  it.each([
    ['params', { ...message, method: 'tools/list', params: null }],
    ['a cursor', { ...message, method: 'tools/list', params: { cursor: null, _meta: null } }],
    ['arguments', { ...message, method: 'tools/call', params: { name: 'look', arguments: null, _meta: null } }],
    [
      'capabilities',
      {
        ...message,
        method: 'initialize',
        params: {
          protocolVersion: '2025-11-25',
          capabilities: { roots: null, sampling: null, experimental: null },
          clientInfo: { name: 'c', version: '1', title: null, websiteUrl: null },
        },
      },
    ],
  ])('with null for %s are answered as if it were left out', async (_, asked) => {
    const { server } = await serveTestHost()
    const headers = await initialize(server.agentUrl)
    const answer = JSON.parse((await send(server.agentUrl, { headers, body: JSON.stringify(asked) })).text)
    const left = JSON.stringify(asked, (_, value) => (value === null ? undefined : value))
    const expected = JSON.parse((await send(server.agentUrl, { headers, body: left })).text)
    expect(answer).toEqual(expected)
    expect(answer.error?.message ?? '').not.toContain('object')
  })

  it('with more keys than JSON-RPC has are answered', async () => {
    const { server } = await serveTestHost()
    const headers = await initialize(server.agentUrl)
    const { text } = await send(server.agentUrl, { headers, body: JSON.stringify({ ...message, more: true }) })
    expect(JSON.parse(text)).toEqual({ jsonrpc: '2.0', id: 7, result: {} })
  })

  it('that ask for nothing get 202 and no body', async () => {
    const { server } = await serveTestHost()
    const headers = await initialize(server.agentUrl)
    const body = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })
    expect(await send(server.agentUrl, { headers, body })).toMatchObject({ status: 202, text: '' })
    expect(await send(server.trainerUrl, { headers: controlHeaders(server), body })).toMatchObject({ status: 202 })
  })
})

describe('the rules of Streamable HTTP', () => {
  it.each([
    ['content-type', 'text/plain', 415],
    ['content-type', 'application/jsonp', 415],
    ['content-type', null, 415],
    ['content-type', 'application/json; charset=utf-8', 200],
    ['accept', 'text/html', 406],
    ['content-encoding', 'gzip', 415],
    ['content-encoding', 'br', 415],
    ['content-encoding', 'identity', 200],
    ['accept', 'application/json', 200],
    ['accept', 'application/*', 200],
    ['accept', null, 200],
    ['mcp-protocol-version', '2025-11-25', 200],
    ['mcp-protocol-version', '2025-06-18', 200],
    ['mcp-protocol-version', '1999-01-01', 400],
    ['mcp-protocol-version', '', 400],
  ])('%s %j gets %i', async (name, value, status) => {
    const { server } = await serveTestHost()
    const headers = await initialize(server.agentUrl)
    expect((await rpc(server.agentUrl, 'ping', {}, { ...headers, [name]: value })).status).toBe(status)
  })

  it('names the encoding of a body that it does not read', async () => {
    const { server } = await serveTestHost()
    const headers = { ...(await initialize(server.agentUrl)), 'content-encoding': 'gzip' }
    const { status, text } = await send(server.agentUrl, { headers, body: gzipSync('{}') })
    expect([status, JSON.parse(text).error.message]).toEqual([415, expect.stringContaining('gzip')])
  })

  it.each(['text/event-stream', 'text/*'])(
    'answers with one event if a client accepts nothing but %s',
    async (accept) => {
      const { server } = await serveTestHost()
      const headers = { ...(await initialize(server.agentUrl)), accept }
      const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'ping' })
      const { status, headers: said, text } = await send(server.agentUrl, { headers, body })
      expect([status, said['content-type']]).toEqual([200, 'text/event-stream'])
      const [, event] = /^event: message\ndata: (.*)\n\n$/.exec(text) ?? []
      expect(JSON.parse(event ?? '')).toEqual({ jsonrpc: '2.0', id: 7, result: {} })
    },
  )

  it.each([
    ...['/mcp/', '/mcp/?x=1', '/mcp?x', '//mcp', '/mcp//', '//mcp//?x'],
    ...['http://HOST/mcp', 'http://HOST/mcp/?x', 'http://HOST//mcp'],
  ])('serves POST %s', async (path) => {
    const { server } = await serveTestHost()
    const { host, hostname, port } = new URL(server.agentUrl)
    const headers = { ...(await initialize(server.agentUrl)), 'content-type': 'application/json', host }
    const sent = request({ hostname, port, method: 'POST', path: path.replace('HOST', host), headers })
    sent.end(JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'ping' }))
    const [response] = await once(sent, 'response')
    expect([response.statusCode, await json(response)]).toEqual([200, { jsonrpc: '2.0', id: 7, result: {} }])
  })

  it('checks the host of a whole URL, and not that of the header beside it', async () => {
    const { server } = await serveTestHost()
    const { host, hostname, port } = new URL(server.agentUrl)
    const headers = { host, 'content-type': 'application/json' }
    const sent = request({ hostname, port, method: 'POST', path: 'http://attacker.test/mcp', headers })
    sent.end('{}')
    const [response] = await once(sent, 'response')
    response.resume()
    expect(response.statusCode).toBe(403)
  })

  it('opens a stream on GET for agents that take one, and serves no other method', async () => {
    const { server } = await serveTestHost()
    const headers = await initialize(server.agentUrl)
    expect((await send(server.agentUrl, { method: 'GET', headers: { ...headers, accept: 'text/html' } })).status).toBe(
      406,
    )
    expect((await send(server.trainerUrl, { method: 'GET', headers: controlHeaders(server) })).status).toBe(405)
    for (const method of ['PUT', 'PATCH']) {
      const agent = await send(server.agentUrl, { method })
      expect(agent.status).toBe(405)
      expect(agent.headers.allow).toBe('GET, POST, DELETE')
      const trainer = await send(server.trainerUrl, { method, headers: controlHeaders(server) })
      expect(trainer.status).toBe(405)
      expect(trainer.headers.allow).toBe('POST')
    }
    expect((await send(server.trainerUrl, { method: 'DELETE', headers: controlHeaders(server) })).status).toBe(405)
  })
})

describe('the rate of the agent endpoint', () => {
  const rate = { calls: 3, seconds: 60 }
  afterEach(() => void vi.useRealTimers())

  it('is limited, with Retry-After', async () => {
    const { server } = await serveTestHost({ limits: { rate } })
    const headers = await initialize(server.agentUrl)
    const statuses = []
    for (let i = 0; i < 4; i++) statuses.push(await rpc(server.agentUrl, 'tools/call', guess(1), headers))
    expect(statuses.map(({ status }) => status)).toEqual([200, 200, 200, 429])
    expect(Number(statuses[3]?.headers['retry-after'])).toBeGreaterThan(0)
    expect(Number(statuses[3]?.headers['retry-after'])).toBeLessThanOrEqual(60)
  })

  it('has room again when the window has ended', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
    const { server } = await serveTestHost({ limits: { rate } })
    const headers = await initialize(server.agentUrl)
    const ask = () => rpc(server.agentUrl, 'tools/call', guess(1), headers)
    for (let window = 0; window < 2; window++) {
      for (let i = 0; i < 3; i++) expect((await ask()).status).toBe(200)
      expect(await ask()).toMatchObject({ status: 429, headers: { 'retry-after': '60' } })
      vi.advanceTimersByTime(59_000)
      expect(await ask()).toMatchObject({ status: 429, headers: { 'retry-after': '1' } })
      vi.advanceTimersByTime(1_000)
    }
    expect((await ask()).status).toBe(200)
  })

  it('is counted for each client separately', async () => {
    const { server } = await serveTestHost({ limits: { rate } })
    const first = await initialize(server.agentUrl)
    const second = await initialize(server.agentUrl)
    for (let i = 0; i < 4; i++) await rpc(server.agentUrl, 'tools/call', guess(1), first)
    expect((await rpc(server.agentUrl, 'tools/call', guess(1), second)).status).toBe(200)
  })

  it('is not escaped by making up names', async () => {
    const { server } = await serveTestHost({ limits: { rate } })
    const statuses = new Set<number>()
    for (let i = 0; i < 4; i++) {
      const answer = await rpc(server.agentUrl, 'ping', {}, { 'mcp-session-id': `mcp_${i}` })
      const other = await rpc(server.sessionUrl(`cap_${i}`), 'ping')
      statuses.add(answer.status).add(other.status)
    }
    expect([...statuses]).toEqual([404, 429])
  })

  it('is not escaped by forged capabilities of a session that is in use', async () => {
    const { server } = await serveTestHost({ limits: { rate } })
    const { seats } = await openOverHttp(server)
    const capability = seats[DEFAULT_SEAT]?.capability as string
    const genuine = server.sessionUrl(capability)
    expect((await rpc(genuine, 'tools/call', guess(1))).status).toBe(200)
    const statuses = []
    for (const digit of 'ABCDE') {
      // The id and the seat are right, and no proof of 128 bits ends with an x.
      const forged = `${capability.slice(0, -2)}${digit}x`
      statuses.push((await rpc(server.sessionUrl(forged), 'tools/call', guess(1))).status)
    }
    expect(statuses).toEqual([404, 404, 404, 429, 429])
    expect((await rpc(genuine, 'tools/call', guess(1))).status).toBe(200)
  })

  it('does not bind the trainer endpoint', async () => {
    const { server } = await serveTestHost({ limits: { rate } })
    for (let i = 0; i < 10; i++)
      expect((await rpc(server.trainerUrl, METHODS.list, {}, controlHeaders(server))).status).toBe(200)
  })

  it('answers 503 if there is no room for another session', async () => {
    const { server } = await serveTestHost({}, { bounds: { sessions: 1 } })
    await openOverHttp(server)
    const answer = await rpc(server.agentUrl, 'tools/call', guess(1), await initialize(server.agentUrl))
    expect([answer.status, answer.headers['retry-after']]).toEqual([503, '30'])
    expect(answer.json.error?.data).toEqual({ code: 'capacity', retryAfterSeconds: 30 })
  })
})
