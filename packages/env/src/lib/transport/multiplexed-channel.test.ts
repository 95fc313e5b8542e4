import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { serveHttp } from '@episodic/mcp-server/http'
import { METHODS } from '@episodic/protocol'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { connect } from '../connect.ts'
import { createWalkHost } from '../fixtures/endpoints.fixture.ts'
import { move } from '../fixtures/walk.fixture.ts'
import { openChannel } from './open-channel.ts'

const TOKEN = 'a-control-token-that-stays'

type Host = ReturnType<typeof createWalkHost>

/** Serves a host at the URL of a WebSocket, and again at the same port. */
async function serve(host: Host) {
  const server = await serveHttp(host, { auth: { controlToken: TOKEN } })
  const { port } = server
  const url = server.trainerUrl.replace(/^http/, 'ws')
  return { url, server, again: () => serveHttp(host, { port, auth: { controlToken: TOKEN } }) }
}

function createTestHost(): Host {
  const host = createWalkHost()
  onTestFinished(() => host[Symbol.asyncDispose]())
  return host
}

describe('a connection over a WebSocket', () => {
  it('is shared by as many environments as there are', async () => {
    const { url, server } = await serve(createTestHost())
    onTestFinished(() => server[Symbol.asyncDispose]())
    await using connection = await connect({ url, token: TOKEN })
    const places = Array.from({ length: 600 }, () => connection.environment())
    const starts = await Promise.all(places.map((place, i) => place.reset({ seed: `${i}` })))
    expect(new Set(starts.map(({ info }) => info.id)).size).toBe(600)
    const steps = await Promise.all(places.map((place) => place.step(move(0))))
    expect(steps.every(({ info }) => info.seq === 1)).toBe(true)
  })

  it('is made again after the server went in the middle of a call, and nothing is played twice', async () => {
    const host = createTestHost()
    const { url, server, again } = await serve(host)
    await using connection = await connect({ url, token: TOKEN })
    await using environment = connection.environment()
    await environment.reset({ params: { size: 1_000 }, seed: 'far away' })
    expect((await environment.step(move(1))).info.seq).toBe(1)
    const stepping = environment.step(move(1))
    await server[Symbol.asyncDispose]()
    const back = await again()
    onTestFinished(() => back[Symbol.asyncDispose]())
    expect((await stepping).info.seq).toBe(2)
    expect((await environment.step(move(1))).info.seq).toBe(3)
  })

  it('fails at once, for good, with a token that nobody knows', async () => {
    const { url, server } = await serve(createTestHost())
    onTestFinished(() => server[Symbol.asyncDispose]())
    await expect(connect({ url, token: 'another-token-altogether' })).rejects.toMatchObject({
      code: 'connection-failed',
      details: { retryable: false },
    })
  })

  it('is refused where nobody listens', async () => {
    const { url, server } = await serve(createTestHost())
    await server[Symbol.asyncDispose]()
    await expect(connect({ url, token: TOKEN })).rejects.toMatchObject({ code: 'connection-failed' })
  })

  it('loses only the call that is too large', async () => {
    const { url, server } = await serve(createTestHost())
    onTestFinished(() => server[Symbol.asyncDispose]())
    await using connection = await connect({ url, token: TOKEN })
    const [large, small] = [connection.environment(), connection.environment()]
    await Promise.all([large.reset(), small.reset()])
    const [first, second] = await Promise.allSettled([
      large.step({ tool: 'move', arguments: { by: 'x'.repeat(1_100_000) } }),
      small.step(move(0)),
    ])
    expect(first).toMatchObject({ status: 'rejected', reason: { code: 'too-large' } })
    expect(second).toMatchObject({ status: 'fulfilled', value: { info: { seq: 1 } } })
  })

  it('lets go of a call that is aborted, and of nothing else', async () => {
    const { url, server } = await serve(createTestHost())
    onTestFinished(() => server[Symbol.asyncDispose]())
    const channel = await openChannel({ url, token: TOKEN })
    const open = { environment: 'walk', requestKey: 'k'.repeat(16) }
    const { session } = (await channel.request(METHODS.open, open)) as { session: string }
    const stop = new AbortController()
    const waiting = channel.request(METHODS.watch, { session, wait: 60 }, { signal: stop.signal })
    const listed = channel.request(METHODS.list, {})
    stop.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
    expect(await listed).toMatchObject({ environments: [{}, {}] })
    await channel.close()
    await channel.close()
    await expect(channel.request(METHODS.list, {})).rejects.toMatchObject({
      code: 'connection-failed',
      details: { retryable: false },
    })
  })
})

/**
 * Serves WebSockets that are not ours: `answer` returns the texts of the answer to one request. `chunks` are the bytes
 * received, as they arrive.
 */
async function serveAnswers(answer: (message: { id: number; method: string }, webSocket: WebSocket) => string[]) {
  const chunks: Buffer[] = []
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  server.on('connection', (webSocket, request) => {
    request.socket.on('data', (chunk) => chunks.push(chunk))
    webSocket.on('message', (data) => {
      const message = JSON.parse(String(data))
      if (message.method === 'initialize') webSocket.send(`{"jsonrpc":"2.0","id":${message.id},"result":{}}`)
      else if (message.id !== undefined) for (const text of answer(message, webSocket)) webSocket.send(text)
    })
  })
  await once(server, 'listening')
  onTestFinished(() => {
    for (const webSocket of server.clients) webSocket.terminate()
    server.close()
  })
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`, chunks }
}

describe('a channel of many calls', () => {
  it('writes the calls of one turn together', async () => {
    const { url, chunks } = await serveAnswers(({ id }) => [`{"jsonrpc":"2.0","id":${id},"result":{"id":${id}}}`])
    const channel = await openChannel(url)
    await channel.request('first', {})
    chunks.length = 0
    const answers = await Promise.all(Array.from({ length: 100 }, () => channel.request('more', {})))
    expect(new Set(answers.map((answer) => (answer as { id: number }).id)).size).toBe(100)
    expect(chunks).toHaveLength(1)
    await channel.close()
  })

  it('sends no more than are answered at once, and the others as there is room', async () => {
    const held: number[] = []
    let release = (): void => {}
    const { url } = await serveAnswers(({ id }, webSocket) => {
      held.push(id)
      release = () => {
        for (const waiting of held.splice(0)) webSocket.send(`{"jsonrpc":"2.0","id":${waiting},"result":{}}`)
      }
      return []
    })
    const channel = await openChannel(url)
    const all = Promise.all(Array.from({ length: 300 }, () => channel.request('hold', {})))
    await expect.poll(() => held.length).toBe(256)
    release()
    await expect.poll(() => held.length).toBe(44)
    release()
    expect(await all).toHaveLength(300)
    await channel.close()
  })

  it.each([
    ['an answer that is none', ({ id }: { id: number }) => `{"jsonrpc":"2.0","id":${id}}`, 'reply-malformed'],
    ['what is not JSON', () => 'rubbish', 'connection-failed'],
    ['an error without an id', () => REFUSAL, 'parse-error'],
  ])('rejects the call that got %s, and plays on', async (_, answer, code) => {
    let bad = true
    const { url } = await serveAnswers((message) => [
      bad ? answer(message) : `{"jsonrpc":"2.0","id":${message.id},"result":1}`,
    ])
    const channel = await openChannel(url)
    await expect(channel.request('ask', {})).rejects.toMatchObject({ code })
    bad = false
    expect(await channel.request('ask', {})).toBe(1)
    await channel.close()
  })

  it('takes answers that nobody waits for as nothing', async () => {
    const { url } = await serveAnswers(({ id }) => [
      '{"jsonrpc":"2.0","id":9999,"result":1}',
      '{"jsonrpc":"2.0","method":"notifications/x"}',
      `{"jsonrpc":"2.0","id":${id},"result":2}`,
    ])
    const channel = await openChannel(url)
    expect(await channel.request('ask', {})).toBe(2)
    await channel.close()
  })

  it.each(['tcp://127.0.0.1:1', 'unix:/walk.sock', 'ftp://127.0.0.1:1', 'nowhere'])(
    'is not opened for %s',
    async (url) => {
      await expect(openChannel(url)).rejects.toMatchObject({ code: 'target-invalid' })
    },
  )
})

const REFUSAL = '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Not JSON.","data":{}}}'
