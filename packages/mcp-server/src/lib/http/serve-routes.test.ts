import { describe, expect, it, onTestFinished } from 'vitest'
import { createTestHost, send } from '../fixtures/testbed.fixture.ts'
import { refusedWebSocket } from '../fixtures/web-socket.fixture.ts'
import type { ExtraRoutes } from './extra-routes.ts'
import { type RoutesOptions, serveRoutes } from './serve-routes.ts'

/** Answers at every path but `/none` with the name of its client; a client can send its token as `X-Key`. */
const whoAmI: ExtraRoutes = {
  owns: (path) => path !== '/none',
  tokenOf: ({ headers }) => (headers['x-key'] as string | undefined) ?? null,
  async answer(_, response, __, identify) {
    const client = await identify()
    response.end('status' in client ? `${client.status}` : `${client.principal} ${client.trainer}`)
  },
  upgrade: (_, socket) => void socket.end('HTTP/1.1 426 Upgrade Required\r\nContent-Length: 0\r\n\r\n'),
  drain: async () => 2,
  end() {},
}

async function serveTestRoutes(options: RoutesOptions = {}) {
  const { host } = createTestHost()
  const server = await serveRoutes(host, whoAmI, options)
  onTestFinished(() => server[Symbol.asyncDispose]())
  return server
}

describe('serveRoutes', () => {
  it('identifies clients by the header, or by the token that the routes find', async () => {
    const agentTokens = { 'a-token-of-twenty-two-characters': 'bob' }
    const { origin, controlToken } = await serveTestRoutes({ auth: { agentTokens } })
    const ask = async (headers: Record<string, string>) => (await send(`${origin}/`, { method: 'GET', headers })).text
    expect(await ask({ authorization: `Bearer ${controlToken}` })).toBe('control true')
    expect(await ask({ 'x-key': controlToken })).toBe('control true')
    expect(await ask({ 'x-key': Object.keys(agentTokens)[0] as string })).toBe('bob false')
    expect(await ask({})).toBe('401')
  })

  it('checks Host and Origin first, and answers 404 elsewhere', async () => {
    const { origin } = await serveTestRoutes()
    expect((await send(`${origin}/`, { headers: { host: 'evil.example' } })).status).toBe(403)
    expect((await send(`${origin}/`, { headers: { origin: 'https://evil.example' } })).status).toBe(403)
    expect((await send(`${origin}/none`)).status).toBe(404)
    expect((await refusedWebSocket(`${origin}/none`)).status).toBe(404)
    expect((await refusedWebSocket(`${origin}/`, { origin: 'https://evil.example' })).status).toBe(403)
    expect((await refusedWebSocket(`${origin}/`)).status).toBe(426)
  })

  it('serves routes without tokens on loopback alone', async () => {
    const serving = serveTestRoutes({ address: '0.0.0.0', allow: { hosts: ['train.example'] }, asksTokens: false })
    await expect(serving).rejects.toMatchObject({ code: 'unsafe-bind' })
    await expect(serveTestRoutes({ address: '0.0.0.0' })).rejects.toMatchObject({ code: 'unsafe-bind' })
    expect((await serveTestRoutes({ asksTokens: false })).origin).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  })

  it('is drained as the routes are, and frees its port', async () => {
    const server = await serveTestRoutes()
    expect(await server.drain()).toBe(2)
    await expect(serveTestRoutes({ port: server.port })).rejects.toMatchObject({ code: 'address-in-use' })
    await server[Symbol.asyncDispose]()
    await serveTestRoutes({ port: server.port })
  })
})
