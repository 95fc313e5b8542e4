import { METHODS } from '@episodic/protocol'
import { StateError } from '@episodic/state'
import { createMemoryStore } from '@episodic/state/memory'
import { request } from 'undici'
import { describe, expect, it } from 'vitest'
import { controlHeaders, initialize, openOverHttp, rpc, send, serveTestHost } from '../fixtures/testbed.fixture.ts'
import type { HostOptions } from '../host/host.ts'
import { createMetrics } from '../host/operate/metrics.ts'
import type { HttpOptions, HttpServer } from './serve-http.ts'

const guess = (value: unknown) => ({ name: 'guess', arguments: { value } })
const at = (server: HttpServer, path: string) => `http://127.0.0.1:${server.port}${path}`

async function serveMetered(options: HttpOptions = {}, hostOptions: Partial<HostOptions> = {}) {
  const metrics = createMetrics()
  return serveTestHost({ metrics, ...options }, { metrics, ...hostOptions })
}

/** The value of each series of a Prometheus text. */
async function scrape(server: HttpServer): Promise<Record<string, number>> {
  const { status, headers, text } = await send(at(server, '/metrics'), {
    method: 'GET',
    headers: controlHeaders(server),
  })
  expect(status).toBe(200)
  expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8')
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  for (const line of lines) expect(line).toMatch(/^episodic_\w+(\{(\w+="[^"]*",?)+\})? \d\S*$/)
  return Object.fromEntries(lines.map((line) => [line.replace(/ \S+$/, ''), Number(/\S+$/.exec(line)?.[0])]))
}

describe('/healthz and /readyz', () => {
  it('answer anyone, under any Host, with one word', async () => {
    const { server } = await serveTestHost({ auth: { agentTokens: { ['a'.repeat(22)]: 'anna' } } })
    for (const path of ['/healthz', '/readyz', '/healthz?verbose']) {
      const answer = await request(at(server, path), { headers: { host: '10.0.0.7:8080', origin: 'https://evil.com' } })
      expect([answer.statusCode, await answer.body.text()]).toEqual([200, 'ok\n'])
      expect(answer.headers['cache-control']).toBe('no-store')
      expect((await send(at(server, path), { method: 'POST', body: '{}' })).status).toBe(405)
      expect(await send(at(server, path), { method: 'HEAD' })).toMatchObject({ status: 200, text: '' })
    }
  })

  it('distinguish a running process from one whose store does not answer', async () => {
    const store = createMemoryStore()
    const { server } = await serveTestHost({}, { store })
    expect((await send(at(server, '/readyz'), { method: 'GET' })).status).toBe(200)
    await store[Symbol.asyncDispose]()
    const away = await send(at(server, '/readyz'), { method: 'GET' })
    expect([away.status, away.text]).toEqual([503, 'store-unavailable\n'])
    expect((await send(at(server, '/healthz'), { method: 'GET' })).status).toBe(200)
  })
})

describe('/readyz of a server whose store can only be read', () => {
  it('answers store-unavailable until it can be written again', async () => {
    let isFull = true
    const store = Object.assign(createMemoryStore(), {
      checkWritable: () => (isFull ? Promise.reject(new StateError('store-unavailable', 'full')) : Promise.resolve()),
    })
    const { server } = await serveTestHost({}, { store })
    const ask = async () => (await send(at(server, '/readyz'), { method: 'GET' })).text
    expect(await ask()).toBe('store-unavailable\n')
    isFull = false
    expect(await ask()).toBe('ok\n')
  })
})

describe('/metrics', () => {
  it("needs the operator's own control token: the counts are of all principals", async () => {
    const agent = 'a'.repeat(22)
    const trainer = 't'.repeat(22)
    const { server } = await serveMetered({
      auth: { agentTokens: { [agent]: 'anna' }, controlTokens: { [trainer]: 'ben' } },
    })
    const ask = (headers: object) => send(at(server, '/metrics'), { method: 'GET', headers: { ...headers } })
    expect((await ask({})).status).toBe(401)
    expect((await ask({ authorization: `Bearer ${agent}` })).status).toBe(401)
    const denied = await ask({ authorization: `Bearer ${trainer}` })
    expect(denied.status).toBe(403)
    expect(denied.text).not.toContain('episodic_')
    expect((await ask(controlHeaders(server))).status).toBe(200)
    expect((await ask({ ...controlHeaders(server), origin: 'https://evil.com' })).status).toBe(403)
    const spoofed = await request(at(server, '/metrics'), { headers: { ...controlHeaders(server), host: 'evil.com' } })
    expect(spoofed.statusCode).toBe(403)
    await spoofed.body.dump()
  })

  it('answers 404 without metrics', async () => {
    const { server } = await serveTestHost()
    expect((await send(at(server, '/metrics'), { method: 'GET', headers: controlHeaders(server) })).status).toBe(404)
  })

  it('counts sessions, steps, refusals and calls of the store', async () => {
    const { host, clock, server } = await serveMetered({}, { bounds: { sessions: 3 } })
    const { session } = await openOverHttp(server)
    const plain = await initialize(server.agentUrl)
    for (const value of [1, 2, 'three']) await rpc(server.agentUrl, 'tools/call', guess(value), plain)
    const workshop = await openOverHttp(server, { environment: 'workshop' })
    await rpc(server.trainerUrl, METHODS.open, {}, controlHeaders(server))
    await openOverHttp(server)
    await rpc(server.trainerUrl, METHODS.list)
    await rpc(server.trainerUrl, METHODS.close, { session: workshop.session }, controlHeaders(server))

    const counted = await scrape(server)
    expect(counted).toMatchObject({
      episodic_sessions: 2,
      episodic_calls: 0,
      'episodic_sessions_opened_total{environment="number-guessing"}': 2,
      'episodic_sessions_opened_total{environment="workshop"}': 1,
      'episodic_sessions_closed_total{environment="workshop"}': 1,
      'episodic_steps_total{environment="number-guessing",outcome="played"}': 2,
      'episodic_steps_total{environment="number-guessing",outcome="refused"}': 1,
      'episodic_step_seconds_count{environment="number-guessing"}': 3,
      'episodic_step_seconds_bucket{environment="number-guessing",le="+Inf"}': 3,
      'episodic_refusals_total{code="invalid-params"}': 1,
      'episodic_refusals_total{code="capacity"}': 1,
      'episodic_refusals_total{code="http-401"}': 1,
      'episodic_store_operations_total{operation="create"}': 3,
      'episodic_store_operations_total{operation="remove"}': 1,
    })
    expect(counted['episodic_store_seconds_count{operation="commit"}']).toBe(
      counted['episodic_store_operations_total{operation="commit"}'],
    )
    clock.advance(1_000_000)
    await host.sweep()
    expect(await scrape(server)).toMatchObject({ episodic_sessions: 0, episodic_sessions_expired_total: 2 })
    expect((await rpc(server.trainerUrl, METHODS.state, { session }, controlHeaders(server))).status).toBe(200)
  })

  it('counts a store that fails, and faults of a world', async () => {
    const store = createMemoryStore()
    const { server } = await serveMetered({}, { store })
    const { session } = await openOverHttp(server, { environment: 'workshop' })
    await rpc(server.trainerUrl, 'tools/call', brokenCall(session), controlHeaders(server))
    await store[Symbol.asyncDispose]()
    await rpc(server.trainerUrl, METHODS.state, { session }, controlHeaders(server))
    const counted = await scrape(server)
    expect(counted).not.toHaveProperty('episodic_sessions')
    expect(counted['episodic_store_failures_total{operation="read"}']).toBeGreaterThan(0)
    expect(counted).toMatchObject({
      'episodic_faults_total{environment="workshop"}': 1,
      'episodic_refusals_total{code="store-unavailable"}': 1,
      'episodic_refusals_total{code="environment-failed"}': 1,
    })
  })

  it('names no session, no principal and no secret', async () => {
    const { server } = await serveMetered({ auth: { agentTokens: { ['a'.repeat(22)]: 'anna-the-agent' } } })
    const { session, id } = await openOverHttp(server)
    const { text } = await send(at(server, '/metrics'), { method: 'GET', headers: controlHeaders(server) })
    for (const name of [session, id, 'anna-the-agent', server.controlToken]) expect(text).not.toContain(name)
  })
})

/** A call that makes the workshop's rules throw. */
function brokenCall(session: string) {
  return { name: 'crash', arguments: {}, _meta: { 'dev.episodic/session': session } }
}
