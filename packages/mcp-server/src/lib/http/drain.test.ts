import { METHODS } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { createGatedStore } from '../fixtures/gated-store.fixture.ts'
import { controlHeaders, initialize, openOverHttp, rpc, send, serveTestHost } from '../fixtures/testbed.fixture.ts'
import type { Host } from '../host/host.ts'

const guess = (value: number) => ({ name: 'guess', arguments: { value } })

async function serveGated() {
  const gate = createGatedStore()
  const testbed = await serveTestHost({}, { store: gate.store })
  const capability = (await openOverHttp(testbed.server)).seats.agent?.capability as string
  return { ...testbed, ...gate, url: testbed.server.sessionUrl(capability) }
}

describe('HttpServer.drain', () => {
  it('answers calls in flight, and rejects later ones with Retry-After', async () => {
    const { server, url, reached, open } = await serveGated()
    const plain = await initialize(server.agentUrl)
    const base = `http://127.0.0.1:${server.port}`
    const stepping = rpc(url, 'tools/call', guess(1))
    await reached
    const drained = server.drain()

    const late = [
      await rpc(url, 'tools/call', guess(2)),
      await rpc(server.agentUrl, 'tools/list', {}, plain),
      await rpc(server.trainerUrl, METHODS.list, {}, controlHeaders(server)),
      await send(server.agentUrl, { method: 'DELETE', headers: plain }),
    ]
    for (const { status, headers, text } of late) {
      expect(status).toBe(503)
      expect(headers['retry-after']).toBe('1')
      expect(headers.connection).toBe('close')
      expect(text).toBe(late[0]?.text)
    }
    expect(await send(`${base}/readyz`, { method: 'GET' })).toMatchObject({ status: 503, text: 'draining\n' })
    expect(await send(`${base}/healthz`, { method: 'GET' })).toMatchObject({ status: 200, text: 'ok\n' })

    open()
    expect(await drained).toBe(0)
    const { status, headers, text } = await stepping
    expect(status).toBe(200)
    expect(headers.connection).toBe('close')
    expect(text).toContain('7 guesses left')
  })

  it('still rejects callers without a token', async () => {
    const { server } = await serveTestHost()
    await server.drain()
    expect((await rpc(server.trainerUrl, METHODS.list)).status).toBe(401)
  })

  it('answers a pending watch', async () => {
    const { server, host } = await serveTestHost()
    const { session } = await openOverHttp(server)
    const asked = Promise.withResolvers<void>()
    const resolve = host.resolve.bind(host)
    host.resolve = ((principal, address) => {
      asked.resolve()
      return resolve(principal, address)
    }) as Host['resolve']
    const watching = rpc(server.trainerUrl, METHODS.watch, { session, wait: 60 }, controlHeaders(server))
    await asked.promise
    // Nobody moves the clock, so only the drain can end the wait.
    expect(await server.drain()).toBe(0)
    expect((await watching).json.result).toEqual({ steps: [], end: null })
  })

  it('stops waiting when its signal is aborted, and returns the number of unanswered calls', async () => {
    const { server, url, reached, open } = await serveGated()
    const stepping = rpc(url, 'tools/call', guess(1)).catch(() => 'cut')
    await reached
    const deadline = new AbortController()
    const drained = server.drain({ signal: deadline.signal })
    deadline.abort()
    expect(await drained).toBe(1)
    await server[Symbol.asyncDispose]()
    expect(await stepping).toBe('cut')
    open()
  })

  it('resolves at once if nothing is in flight', async () => {
    const { server } = await serveTestHost()
    expect(await server.drain()).toBe(0)
    expect(await server.drain()).toBe(0)
  })
})
