import { describe, expect, it } from 'vitest'
import { initialize, rpc, send, serveTestHost } from './testbed.fixture.ts'

const guess = (value: number) => ({ name: 'guess', arguments: { value } })

describe('Mcp-Session-Id', () => {
  it('is asked for with 400, and is unknown with 404 when forged', async () => {
    const { server } = await serveTestHost()
    const headers = await initialize(server.agentUrl)
    const id = headers['mcp-session-id']
    for (const method of ['tools/call', 'tools/list', 'ping', 'notifications/initialized'])
      expect((await rpc(server.agentUrl, method, guess(1))).status, method).toBe(400)
    for (const forged of ['x', `${id.slice(0, -1)}!`, id.replace(/\.\w+\./, '.zzzzzz.'), `${id}, ${id}`, id.slice(4)])
      for (const method of ['tools/call', 'tools/list', 'ping'])
        expect((await rpc(server.agentUrl, method, guess(1), { 'mcp-session-id': forged })).status, forged).toBe(404)
    expect((await rpc(server.agentUrl, 'tools/call', guess(1), headers)).status).toBe(200)
  })

  it('ends with DELETE, and its world with it', async () => {
    const { host, server } = await serveTestHost()
    const played = await initialize(server.agentUrl)
    const unplayed = await initialize(server.agentUrl)
    await rpc(server.agentUrl, 'tools/call', guess(1), played)
    for (const headers of [played, unplayed]) {
      expect((await send(server.agentUrl, { method: 'DELETE', headers })).status).toBe(204)
      for (const method of ['tools/call', 'tools/list', 'ping'])
        expect((await rpc(server.agentUrl, method, guess(1), headers)).status).toBe(404)
      expect((await send(server.agentUrl, { method: 'DELETE', headers })).status).toBe(404)
    }
    expect((await send(server.agentUrl, { method: 'DELETE' })).status).toBe(400)
    const { sessions } = await host.sessions({ limit: 10 })
    for (const { end } of sessions) expect(end).toEqual({ kind: 'truncated', reason: 'closed' })
  })

  it('expires when it is not used, played or not', async () => {
    const { host, clock, server } = await serveTestHost({}, { bounds: { idleSeconds: 60 } })
    const played = await initialize(server.agentUrl)
    const unplayed = await initialize(server.agentUrl)
    clock.advance(59_000)
    await rpc(server.agentUrl, 'tools/call', guess(1), played)
    clock.advance(59_000)
    await host.sweep()
    expect((await rpc(server.agentUrl, 'tools/call', guess(2), played)).text).toContain('6 guesses left')
    expect((await rpc(server.agentUrl, 'tools/call', guess(1), unplayed)).status).toBe(404)
    clock.advance(61_000)
    await host.sweep()
    expect((await rpc(server.agentUrl, 'tools/call', guess(3), played)).status).toBe(404)
  })

  it('is good for the principal that it was given to alone', async () => {
    const tokens = { ['a'.repeat(22)]: 'anna', ['b'.repeat(22)]: 'ben' }
    const { host, server } = await serveTestHost({ agentTokens: tokens })
    const [anna, ben] = Object.keys(tokens).map((token) => ({ authorization: `Bearer ${token}` }))
    const headers = await initialize(server.agentUrl, anna)
    await rpc(server.agentUrl, 'tools/call', guess(1), { ...anna, ...headers })
    const stolen = await rpc(server.agentUrl, 'tools/call', guess(1), { ...ben, ...headers })
    const forged = await rpc(server.agentUrl, 'tools/call', guess(1), { ...ben, 'mcp-session-id': 'forged' })
    expect(stolen.status).toBe(404)
    expect(stolen.text).toBe(forged.text)
    const { status } = await send(server.agentUrl, { method: 'DELETE', headers: { ...ben, ...headers } })
    expect(status).toBe(404)
    expect((await host.sessions({ limit: 10 })).sessions).toMatchObject([{ owner: 'anna', steps: 1, end: null }])
  })
})
