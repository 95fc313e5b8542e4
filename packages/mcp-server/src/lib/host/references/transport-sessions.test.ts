import { METHODS, WireError } from '@episodic/protocol'
import { createMemoryStore } from '@episodic/state/memory'
import { describe, expect, it } from 'vitest'
import { atControl } from '../../fixtures/addressed.fixture.ts'
import {
  asking,
  call,
  controlHeaders,
  createTestHost,
  initialize,
  rpc,
  send,
  serveTestHost,
} from '../../fixtures/testbed.fixture.ts'

describe('a plain client’s transport session', () => {
  it('takes no room for a client that never plays, and is unknown once it was given back', async () => {
    const { server } = await serveTestHost({}, { bounds: { sessions: 2 } })
    for (let i = 0; i < 5; i++) {
      const id = await initialize(server.agentUrl)
      expect((await rpc(server.agentUrl, 'tools/list', {}, id)).status).toBe(200)
      expect((await send(server.agentUrl, { method: 'DELETE', headers: id })).status).toBe(204)
      expect((await rpc(server.agentUrl, 'tools/list', {}, id)).status).toBe(404)
      expect((await send(server.agentUrl, { method: 'DELETE', headers: id })).status).toBe(404)
    }
    const { json } = await rpc(server.trainerUrl, METHODS.sessions, {}, controlHeaders(server))
    expect(json.result).toEqual({ total: 0, sessions: [] })
  })

  it('plays one world, at that world’s address alone', async () => {
    const { server } = await serveTestHost()
    const id = await initialize(server.agentUrl)
    const guess = { name: 'guess', arguments: { value: 50 } }
    expect((await rpc(server.agentUrl, 'tools/call', guess, id)).status).toBe(200)
    expect((await rpc(`${server.agentUrl}/e/workshop`, 'tools/call', guess, id)).status).toBe(404)
    expect((await rpc(server.agentUrl, 'tools/call', guess, id)).status).toBe(200)
  })
})

describe('a world that the store has lost', () => {
  it('is not begun anew in silence', async () => {
    const store = createMemoryStore()
    const { server } = await serveTestHost({}, { store })
    const id = await initialize(server.agentUrl)
    const guess = { name: 'guess', arguments: { value: 50 } }
    expect((await rpc(server.agentUrl, 'tools/call', guess, id)).status).toBe(200)
    for (const { id: lost } of await store.list({ limit: 10 })) await store.remove(lost)
    for (let i = 0; i < 3; i++) expect((await rpc(server.agentUrl, 'tools/call', guess, id)).status).toBe(404)
    expect(await store.count()).toBe(0)
  })
})

describe('a request key', () => {
  it('opens one session: the same again for the same request, and a refusal for another', async () => {
    const { host } = createTestHost()
    const request = asking({ params: { high: 50 }, seed: 'a', limits: { steps: 5 } })
    const opened = await host.open(null, request)
    expect(await host.open(null, request)).toEqual(opened)
    const others = [{ params: { high: 51 } }, { seed: 'b' }, { limits: { steps: 6 } }]
    for (const other of others)
      await expect(host.open(null, { ...request, ...other })).rejects.toSatisfy((error) =>
        WireError.is(error, 'invalid-params'),
      )
    expect((await atControl(host, opened.session).step(call('guess', { value: 25 }))).step.report.seq).toBe(1)
  })
})
