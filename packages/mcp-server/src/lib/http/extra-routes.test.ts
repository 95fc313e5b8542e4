import { describe, expect, it } from 'vitest'
import { WebSocketServer } from 'ws'
import { send, serveTestHost } from '../fixtures/testbed.fixture.ts'
import { openWebSocket, refusedWebSocket } from '../fixtures/web-socket.fixture.ts'
import type { ClientIdentity, ExtraRoutes } from './extra-routes.ts'

/** Answers at `/hello`, and sends each client of a WebSocket there its identity. */
function createGreeter() {
  const server = new WebSocketServer({ noServer: true })
  const clients: ClientIdentity[] = []
  const extraRoutes: ExtraRoutes = {
    owns: (path) => path === '/hello',
    answer: (_, response) => void response.end('Hello.'),
    upgrade(request, socket, head, client) {
      clients.push(client)
      server.handleUpgrade(request, socket, head, (webSocket) => {
        webSocket.send(JSON.stringify({ principal: client.principal, trainer: client.trainer }))
      })
    },
    async drain() {
      for (const client of server.clients) client.close(1001)
      return 3
    },
    end() {
      for (const client of server.clients) client.terminate()
    },
  }
  return { extraRoutes, clients }
}

const agentTokens = { 'a-token-of-twenty-two-characters': 'ada' }

describe('extra routes', () => {
  it('answers at its own paths, behind the guards of Host and Origin', async () => {
    const { server } = await serveTestHost({ extraRoutes: createGreeter().extraRoutes })
    const base = new URL(server.agentUrl).origin
    expect(await send(`${base}/hello`, { method: 'GET' })).toMatchObject({ status: 200, text: 'Hello.' })
    expect((await send(`${base}/elsewhere`, { method: 'GET' })).status).toBe(404)
    expect((await send(`${base}/hello`, { method: 'GET', headers: { host: 'evil.example' } })).status).toBe(403)
    expect((await send(`${base}/hello`, { headers: { origin: 'https://evil.example' } })).status).toBe(403)
    expect((await refusedWebSocket(`${base}/hello`, { origin: 'https://evil.example' })).status).toBe(403)
    expect((await refusedWebSocket(`${base}/elsewhere`)).status).toBe(404)
  })

  it('receives the identity of a client whose token is valid at the trainer or the agent endpoint', async () => {
    const { server } = await serveTestHost({ extraRoutes: createGreeter().extraRoutes })
    const open = async (token?: string) => {
      const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
      return (await openWebSocket(`${new URL(server.agentUrl).origin}/hello`, { headers })).next()
    }
    expect(await open()).toEqual({ principal: null, trainer: false })
    expect(await open('no-token-of-this-server-at-all')).toEqual({ principal: null, trainer: false })
    expect(await open(server.controlToken)).toEqual({ principal: 'control', trainer: true })
  })

  it('rejects a client without a token if the agent endpoint requires one', async () => {
    const { extraRoutes, clients } = createGreeter()
    const { server } = await serveTestHost({
      extraRoutes,
      auth: { agentTokens },
      limits: { rate: { calls: 2, seconds: 100 } },
    })
    const url = `${new URL(server.agentUrl).origin}/hello`
    expect((await refusedWebSocket(url)).status).toBe(401)
    const protocols = ['episodic.bearer.a-token-of-twenty-two-characters']
    expect(await (await openWebSocket(url, { protocols })).next()).toEqual({ principal: 'ada', trainer: false })
    const [ada] = clients as [ClientIdentity]
    expect(await ada.isWelcome()).toBe(true)
    expect([await ada.count(null), await ada.count('cap_of-nobody')]).toEqual([0, 0])
    expect(await ada.count(null)).toBeGreaterThan(90)
  })

  it('is drained and ended with the server', async () => {
    const { server } = await serveTestHost({ extraRoutes: createGreeter().extraRoutes })
    const url = `${new URL(server.agentUrl).origin}/hello`
    const { closed } = await openWebSocket(url)
    expect(await server.drain()).toBe(3)
    expect((await closed).code).toBe(1_001)
    const last = await openWebSocket(url)
    await server[Symbol.asyncDispose]()
    expect((await last.closed).code).toBe(1_006)
  })
})
