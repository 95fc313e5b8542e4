import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect as connectSocket, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { rpc, serveTestHost } from '../fixtures/testbed.fixture.ts'
import { nextTurn } from '../host/yield-to-event-loop.ts'
import type { ExtraRoutes } from './extra-routes.ts'

/** Serves paths that begin with `/held`, which the test answers, and records the requests that were started. */
async function serveHeld() {
  const begun: { readonly url: string; readonly response: ServerResponse }[] = []
  let change = Promise.withResolvers<void>()
  const extraRoutes: ExtraRoutes = {
    owns: (path) => path.startsWith('/held'),
    async answer(request: IncomingMessage, response: ServerResponse) {
      begun.push({ url: request.url ?? '', response })
      change.resolve()
      change = Promise.withResolvers()
    },
    upgrade: async (_, socket) => void socket.destroy(),
    drain: async () => 0,
    end() {},
  }
  const { server } = await serveTestHost({ extraRoutes })
  const socket = connectSocket(server.port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  await once(socket, 'connect')
  return {
    server,
    socket,
    /** Sends requests in one piece. */
    ask: (count: number) =>
      socket.write(
        Array.from({ length: count }, (_, n) => `GET /held/${n} HTTP/1.1\r\nHost: localhost\r\n\r\n`).join(''),
      ),
    /** The requests that have begun, once there are so many, and what came with them has had its turn. */
    async begun(count: number) {
      while (begun.length < count) await change.promise
      // Who asks on another connection is answered after what was read before.
      await rpc(server.agentUrl, 'ping')
      await nextTurn()
      return begun
    },
  }
}

const numbered = (count: number) => Array.from({ length: count }, (_, n) => `/held/${n}`)

/** Reads until so many bytes have come. */
async function read(socket: Socket, bytes: number): Promise<string> {
  let text = ''
  while (text.length < bytes) text += (await once(socket, 'data')).toString()
  return text
}

describe('requests that a client sends without waiting for an answer', () => {
  it('begin one after another, each with the end of the one before', async () => {
    const { socket, ask, begun } = await serveHeld()
    ask(3)
    const answer = read(socket, 1)
    expect((await begun(1)).map(({ url }) => url)).toEqual(numbered(1))
    ;(await begun(1))[0]?.response.end('one')
    expect((await begun(2)).map(({ url }) => url)).toEqual(numbered(2))
    expect(await answer).toContain('one')
  })

  it('wait for a client that does not take the answer to the first', async () => {
    const { socket, ask, begun } = await serveHeld()
    socket.pause()
    ask(3)
    // More than the system holds for a reader.
    const long = 'x'.repeat(32 * 1_048_576)
    ;(await begun(1))[0]?.response.end(long)
    expect(await begun(1)).toHaveLength(1)
    const answers = read(socket, 2 * long.length)
    socket.resume()
    ;(await begun(2))[1]?.response.end(long)
    expect(await begun(2).then((all) => all.map(({ url }) => url))).toContain('/held/1')
    expect((await answers).split('HTTP/1.1 200 OK')).toHaveLength(3)
  })

  it('are all answered in their order, more of them than may wait', async () => {
    const { socket, ask, begun } = await serveHeld()
    let text = ''
    socket.on('data', (data) => {
      text += data
    })
    ask(60)
    for (let count = 1; count <= 60; count++) {
      const all = await begun(count)
      expect(all).toHaveLength(count)
      all[count - 1]?.response.end(`<${count}>`)
    }
    // What is sent later is read again.
    ask(1)
    ;(await begun(61))[60]?.response.end('<61>')
    while (!text.includes('<61>')) await once(socket, 'data')
    expect(text.match(/<\d+>/g)).toEqual(Array.from({ length: 61 }, (_, n) => `<${n + 1}>`))
  })

  it('are dropped with a connection that is gone', async () => {
    const { server, socket, ask, begun } = await serveHeld()
    ask(3)
    const [first] = await begun(1)
    const closed = once(first?.response as ServerResponse, 'close')
    socket.resetAndDestroy()
    await closed
    await rpc(server.agentUrl, 'ping')
    expect(await begun(1)).toHaveLength(1)
  })
})
