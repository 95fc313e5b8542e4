import { METHODS } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { createGatedStore } from '../fixtures/gated-store.fixture.ts'
import { controlHeaders, openOverHttp, rpc, serveTestHost } from '../fixtures/testbed.fixture.ts'
import type { Host } from '../host/host.ts'

const guess = (value: number) => ({ name: 'guess', arguments: { value } })

async function serveGated() {
  const gate = createGatedStore()
  const testbed = await serveTestHost({}, { store: gate.store })
  const capability = (await openOverHttp(testbed.server)).seats.agent?.capability as string
  return { ...testbed, ...gate, url: testbed.server.sessionUrl(capability) }
}

describe('HttpServer.drain', () => {
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
