import { once } from 'node:events'
import { META, METHODS } from '@episodic/protocol'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { WebSocketClientTransport } from '@modelcontextprotocol/sdk/client/websocket.js'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createGatedStore } from '../fixtures/gated-store.fixture.ts'
import { halve } from '../fixtures/number-guessing.fixture.ts'
import { controlHeaders, rpc, send, serveTestHost } from '../fixtures/testbed.fixture.ts'
import { openWebSocket, refusedWebSocket } from '../fixtures/web-socket.fixture.ts'
import type { Rejection } from '../host/access/caller.ts'
import { createMetrics } from '../host/operate/metrics.ts'
import type { HttpOptions, HttpServer } from './serve-http.ts'

const guess = (value: number) => ({ name: 'guess', arguments: { value } })
const step = (session: string, value: number) => ({ ...guess(value), _meta: { [META.session]: session } })

const openTrainer = (server: HttpServer) => openWebSocket(server.trainerUrl, { headers: controlHeaders(server) })

async function serveSeat(options: HttpOptions = {}) {
  const testbed = await serveTestHost(options)
  const trainer = await openTrainer(testbed.server)
  const { session, seats } = await trainer.open()
  return { ...testbed, trainer, session, url: testbed.server.sessionUrl(seats.agent?.capability as string) }
}

/** Moves the timers that look after connections, and no others. */
function holdIntervals(...more: 'Date'[]) {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', ...more] })
}
afterEach(() => void vi.useRealTimers())

describe('the trainer WebSocket', () => {
  it('plays many sessions at once, and answers each request when it is ready', async () => {
    const { server } = await serveTestHost()
    const { open, send, ask, next } = await openTrainer(server)
    const sessions = [await open({ params: { low: 1, high: 1 } }), await open()]
    send(METHODS.watch, { session: sessions[1]?.session, wait: 60 })
    const ended = await ask('tools/call', step(sessions[0]?.session as string, 1))
    expect(ended).toMatchObject({ id: 4, result: { _meta: { [META.step]: { end: { kind: 'terminated' } } } } })
    send('tools/call', step(sessions[1]?.session as string, 1))
    expect([(await next()).id, (await next()).id].sort()).toEqual([3, 5])
  })

  it('accepts the token of a page in a subprotocol, with any characters', async () => {
    const token = 'made/of+odd~characters=='
    const { server } = await serveTestHost({ auth: { controlToken: token } })
    const protocols = ['episodic', `episodic.bearer.${encodeURIComponent(token)}`]
    const { webSocket, ask } = await openWebSocket(server.trainerUrl, { protocols, origin: 'http://localhost:8080' })
    expect(webSocket.protocol).toBe('episodic')
    expect(await ask(METHODS.list)).toMatchObject({ result: { environments: [{}, {}] } })
  })

  it('is rejected with the same message without a token, with a wrong one and with one of the other endpoint', async () => {
    const { server, url } = await serveSeat({ auth: { agentTokens: { 'a-token-of-some-agent-1': 'agent' } } })
    const refused = await Promise.all([
      refusedWebSocket(server.trainerUrl),
      ...['wrong', 'a-token-of-some-agent-1', `${server.controlToken}x`].flatMap((token) => [
        refusedWebSocket(server.trainerUrl, { headers: { authorization: `Bearer ${token}` } }),
        refusedWebSocket(server.trainerUrl, { protocols: ['episodic', `episodic.bearer.${token}`] }),
      ]),
      refusedWebSocket(server.trainerUrl, { protocols: ['episodic', 'episodic.bearer.%'] }),
      refusedWebSocket(url),
    ])
    for (const answer of refused) expect(answer).toEqual(refused[0])
    expect(refused[0]).toMatchObject({ status: 401, headers: { 'www-authenticate': 'Bearer' } })
  })

  it('is rejected for pages of other sites, for other hosts, and at paths without a WebSocket', async () => {
    const rejections: Rejection[] = []
    const { server } = await serveTestHost({ onRejected: (rejection) => rejections.push(rejection) })
    const headers = controlHeaders(server)
    const status = async (url: string, options: object) => (await refusedWebSocket(url, { headers, ...options })).status
    expect(await status(server.trainerUrl, { origin: 'https://evil.example' })).toBe(403)
    expect(await status(server.trainerUrl, { origin: 'null' })).toBe(403)
    expect(await status(server.trainerUrl, { headers: { ...headers, host: 'evil.example' } })).toBe(403)
    expect(await status(server.agentUrl, {})).toBe(404)
    expect(await status(`${server.trainerUrl}/more`, {})).toBe(404)
    expect(rejections.map(({ code }) => code)).toEqual(['http-403', 'http-403', 'http-403', 'http-404', 'http-404'])
  })

  it.each([
    ['a frame that is not text', 1003, ({ send }: Raw) => send(Buffer.from('{}'), { binary: true })],
    ['a message over the limit', 1009, ({ send }: Raw) => send('x'.repeat(2_001))],
    ['bytes that are not UTF-8', 1007, ({ send }: Raw) => send(Buffer.from([0xff]), { binary: false })],
    ['a frame that is none', 1002, ({ write }: Raw) => write(Buffer.from([0xff, 0xff, 0, 0]))],
  ])('is closed for %s, and no other with it', async (_, code, act) => {
    const { server } = await serveTestHost({ limits: { bodyBytes: 2_000 } })
    const [bad, good] = [await openTrainer(server), await openTrainer(server)]
    const { webSocket } = bad
    webSocket.on('error', () => {})
    const { _socket } = webSocket as unknown as { _socket: { write(bytes: Buffer): void } }
    act({ send: (data, options = {}) => webSocket.send(data, options), write: (bytes) => _socket.write(bytes) })
    expect((await bad.closed).code).toBe(code)
    expect(await good.ask(METHODS.list)).toMatchObject({ result: {} })
  })

  it('answers a message that is not a request, with its id if that can be read', async () => {
    const { server } = await serveTestHost()
    const { webSocket, next } = await openTrainer(server)
    const deep = `{"jsonrpc":"2.0","id":7,"method":"${METHODS.list}","params":${'['.repeat(5_000)}`
    for (const text of ['rubbish', '[]', deep]) webSocket.send(text)
    expect(await next()).toMatchObject({ id: null, error: { data: { code: 'parse-error' } } })
    expect(await next()).toMatchObject({ id: null, error: { data: { code: 'invalid-request' } } })
    expect(await next()).toMatchObject({ id: 7, error: { data: { code: 'invalid-request' } } })
  })

  it('is read no further while its client does not read, and cut off when that lasts', async () => {
    holdIntervals()
    const { server } = await serveTestHost()
    const { webSocket, closed, send } = await openTrainer(server)
    webSocket.pause()
    // Sends until the system takes no more on either side.
    while (webSocket.bufferedAmount < 1_000_000) {
      for (let i = 0; i < 500; i++) send(METHODS.list)
      await new Promise((resolve) => setImmediate(resolve))
    }
    webSocket.on('error', () => {})
    await vi.advanceTimersByTimeAsync(30_000)
    webSocket.resume()
    expect((await closed).code).toBe(1006)
  })

  it('is ended when its client answers no pings', async () => {
    holdIntervals()
    const { server } = await serveTestHost()
    const headers = controlHeaders(server)
    const dead = await openWebSocket(server.trainerUrl, { headers, autoPong: false })
    const alive = await openWebSocket(server.trainerUrl, { headers })
    for (let look = 0; look < 3; look++) {
      const pinged = once(alive.webSocket, 'ping')
      vi.advanceTimersByTime(15_000)
      await pinged
      // The pong is there before what is asked after it.
      await alive.ask('ping')
    }
    expect((await dead.closed).code).toBe(1006)
    expect(alive.webSocket.readyState).toBe(alive.webSocket.OPEN)
  })

  it('is closed when its token is no longer valid', async () => {
    const { publicKey, privateKey } = await generateKeyPair('ES256')
    const jwk = { ...(await exportJWK(publicKey)), alg: 'ES256' }
    const jwt = { issuer: 'https://issuer.test', audience: { trainer: 'trainer' }, jwks: { keys: [jwk as never] } }
    holdIntervals('Date')
    const { server } = await serveTestHost({ auth: { jwt } })
    const token = await new SignJWT({})
      .setProtectedHeader({ alg: 'ES256' })
      .setIssuer(jwt.issuer)
      .setAudience('trainer')
      .setSubject('ann')
      .setExpirationTime('20 s')
      .sign(privateKey)
    const { closed, ask } = await openWebSocket(server.trainerUrl, { headers: { authorization: `Bearer ${token}` } })
    expect(await ask(METHODS.list)).toMatchObject({ result: {} })
    vi.advanceTimersByTime(30_000)
    expect((await closed).code).toBe(1008)
  })

  it('counts with the calls of the server', async () => {
    const metrics = createMetrics()
    const { server } = await serveTestHost({ metrics })
    const { open, send, ask } = await openTrainer(server)
    const { session } = await open()
    send(METHODS.watch, { session, wait: 60 })
    await ask('tools/call', { name: 'guess' })
    const counts = async () => (await readMetrics(server)).text
    expect(await counts()).toContain('episodic_calls 1\n')
    expect(await counts()).toContain('episodic_refusals_total{code="invalid-params"} 1\n')
  })

  it('answers what it has read when the server drains, and is closed then', async () => {
    const gate = createGatedStore()
    const { server } = await serveTestHost({}, { store: gate.store })
    const { open, send, next, closed } = await openTrainer(server)
    const { session } = await open()
    send('tools/call', step(session, 1))
    send(METHODS.watch, { session, wait: 60 })
    await gate.reached
    const drained = server.drain()
    expect(await refusedWebSocket(server.trainerUrl, { headers: controlHeaders(server) })).toMatchObject({
      status: 503,
      headers: { 'retry-after': '1' },
    })
    gate.open()
    expect([(await next()).id, (await next()).id].sort()).toEqual([2, 3])
    expect(await closed).toEqual({ code: 1001, reason: 'The server is stopping.' })
    expect(await drained).toBe(0)
  })

  it('returns the number of messages that a drain left unanswered', async () => {
    const gate = createGatedStore()
    const { server } = await serveTestHost({}, { store: gate.store })
    const { open, send } = await openTrainer(server)
    send('tools/call', step((await open()).session, 1))
    await gate.reached
    expect(await server.drain({ signal: AbortSignal.abort() })).toBe(1)
    gate.open()
  })
})

describe("the agent's WebSocket", () => {
  it('lets the official client play a whole episode at a session URL', async () => {
    const { url } = await serveSeat()
    const client = new Client({ name: 'test', version: '1.0.0' })
    await client.connect(new WebSocketClientTransport(new URL(url.replace(/^http/, 'ws'))))
    onTestFinished(() => client.close())
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['guess'])
    const guesses = await halve(1, 100, async (value) => {
      const { structuredContent } = await client.callTool({ name: 'guess', arguments: { value } })
      return (structuredContent as { hint: string }).hint
    })
    expect(guesses).toBeLessThanOrEqual(7)
  })

  it('answers in turn, and nothing of the trainer endpoint', async () => {
    const { url } = await serveSeat()
    const { send, next, ask } = await openWebSocket(url)
    for (let value = 1; value <= 5; value++) send('tools/call', guess(value))
    for (let id = 1; id <= 5; id++) {
      const answer = await next()
      expect(answer.id).toBe(id)
      expect(JSON.stringify(answer)).not.toContain('dev.episodic')
    }
    expect(await ask(METHODS.list)).toMatchObject({ error: { code: -32601 } })
  })

  it('returns the same error for an unknown capability and for one whose session is over', async () => {
    const { server, trainer, session, url } = await serveSeat()
    await trainer.ask(METHODS.close, { session })
    const answers = []
    for (const place of [url, server.sessionUrl('cap_nobody'), server.sessionUrl('x')])
      answers.push(await (await openWebSocket(place)).ask('tools/call', guess(1)))
    for (const answer of answers) expect(answer).toEqual(answers[0])
    expect(answers[0]).toMatchObject({ error: { data: { code: 'session-not-found' } } })
  })

  it('is limited to 64 for each session URL, and to 64 for all unknown ones of an address', async () => {
    const { server, url } = await serveSeat()
    for (const place of [url, server.sessionUrl('x')]) {
      const held = []
      for (let i = 0; i < 64; i++) held.push(await openWebSocket(place))
      expect((await refusedWebSocket(place)).status).toBe(429)
      held[0]?.webSocket.close()
      await held[0]?.closed
      expect(await (await openWebSocket(place)).ask('ping')).toMatchObject({ id: 1 })
    }
    expect((await refusedWebSocket(server.sessionUrl('y'))).status).toBe(429)
  })

  it('shares the rate limit of its calls over HTTP', async () => {
    const { url } = await serveSeat({ limits: { rate: { calls: 3, seconds: 60 } } })
    const { ask } = await openWebSocket(url)
    expect((await rpc(url, 'tools/list')).status).toBe(200)
    for (let i = 0; i < 2; i++) expect(await ask('tools/list')).toMatchObject({ result: {} })
    const { id, error } = await ask('tools/list')
    expect(id).toBe(3)
    expect(error?.data).toMatchObject({ code: 'rate-limited', retryAfterSeconds: expect.any(Number) })
    expect((await rpc(url, 'tools/list')).status).toBe(429)
  })
})

describe('an HTTP server with WebSockets', () => {
  it('answers a call that offers an upgrade to HTTP/2 as any other', async () => {
    const { server } = await serveTestHost()
    const upgrade = { connection: 'upgrade, http2-settings', upgrade: 'h2c', 'http2-settings': '' }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: METHODS.list })
    const { status } = await fetchWith(server, body, upgrade)
    expect(status).toBe(200)
  })

  it('ends them when it is disposed of', async () => {
    const { server } = await serveTestHost()
    const { closed } = await openTrainer(server)
    await server[Symbol.asyncDispose]()
    expect((await closed).code).toBe(1006)
  })
})

interface Raw {
  readonly send: (data: string | Buffer, options?: { binary?: boolean }) => void
  readonly write: (bytes: Buffer) => void
}

function readMetrics(server: HttpServer) {
  const url = server.trainerUrl.replace(/env$/, 'metrics')
  return send(url, { method: 'GET', headers: controlHeaders(server) })
}

/** Sends headers that HTTP clients keep for themselves. */
async function fetchWith(server: HttpServer, body: string, headers: Record<string, string>) {
  const { request } = await import('node:http')
  const sent = request(server.trainerUrl, {
    method: 'POST',
    headers: { ...controlHeaders(server), ...headers, 'content-type': 'application/json' },
  }).end(body)
  const [response] = await once(sent, 'response')
  response.resume()
  return { status: response.statusCode as number }
}
