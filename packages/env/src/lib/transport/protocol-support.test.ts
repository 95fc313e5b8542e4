import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ProtocolSupport } from '@episodic/mcp-client'
import { type JsonObject, METHODS } from '@episodic/protocol'
import { ENVELOPE, MODERN_VERSION } from '@episodic/protocol/internal'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { connect } from '../connect.ts'
import { ENDPOINTS } from '../fixtures/endpoints.fixture.ts'
import { openChannel } from './open-channel.ts'

interface Received {
  readonly headers: IncomingHttpHeaders
  readonly verb: string | undefined
  readonly message: { readonly id?: number; readonly method: string; readonly params?: JsonObject }
}

interface Answer {
  readonly status?: number
  readonly type?: string
  readonly text: string
}

/** An MCP server with the given answers, and the requests that it received. */
async function serve(answer: (received: Received) => Answer | Promise<Answer>) {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    const body = (await request.setEncoding('utf8').toArray()).join('')
    const got = { headers: request.headers, verb: request.method, message: JSON.parse(body || '{"method":""}') }
    received.push(got)
    const { status = 200, type = 'application/json', text } = await answer(got)
    response.writeHead(status, { 'content-type': type }).end(text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    received,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const result = (id: number | undefined, result: object) => JSON.stringify({ jsonrpc: '2.0', id, result })
const DISCOVERED = { supportedVersions: [MODERN_VERSION], capabilities: {}, resultType: 'complete' }

/** A server with the stateless version, which returns what it was asked. */
const modern = ({ message: { id, method, params } }: Received) => ({
  text: result(id, method === 'server/discover' ? DISCOVERED : { resultType: 'complete', asked: params ?? null }),
})

/** A session-based server. */
const legacy = ({ message: { id, method } }: Received) => {
  if (method === 'initialize')
    return {
      text: result(id, {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'old', version: '1' },
      }),
    }
  if (method === 'tools/list') return { text: result(id, { tools: [] }) }
  return { status: id === undefined ? 202 : 400, text: '' }
}

const asked = ({ received }: { received: readonly Received[] }) =>
  received.map(({ verb, message: { method } }) => method || verb)

describe('a channel over HTTP', () => {
  it('asks a server once for its versions, and makes stateless requests without a handshake', async () => {
    await using server = await serve(modern)
    const channel = await openChannel(server.url)
    await channel.request('tools/call', { name: 'add', arguments: {}, _meta: { mine: 1 } })
    await channel.close()
    expect(asked(server)).toEqual(['server/discover', 'tools/call'])
    for (const { headers, message } of server.received) {
      expect(headers).toMatchObject({ 'mcp-protocol-version': MODERN_VERSION, 'mcp-method': message.method })
      expect(headers).not.toHaveProperty('mcp-session-id')
      expect(message.params?._meta).toMatchObject({ [ENVELOPE.version]: MODERN_VERSION, [ENVELOPE.capabilities]: {} })
    }
    expect(server.received[1]).toMatchObject({
      headers: { 'mcp-name': 'add' },
      message: { params: { _meta: { mine: 1 } } },
    })
  })

  it('performs the handshake with a session-based server', async () => {
    await using server = await serve(legacy)
    const channel = await openChannel(server.url)
    expect(await channel.request('tools/list', {})).toEqual({ tools: [] })
    await channel.close()
    expect(asked(server).slice(0, 3)).toEqual(['server/discover', 'initialize', 'notifications/initialized'])
  })

  it.each<[ProtocolSupport, typeof modern, string]>([
    ['modern', modern, 'tools/list'],
    ['legacy', legacy, 'initialize'],
  ])('does not ask a server again whose protocol support is known: %s', async (protocol, answer, first) => {
    await using server = await serve(answer)
    const protocols = new Map<string, ProtocolSupport>()
    for (let i = 0; i < 2; i++) {
      const channel = await openChannel(server.url, { protocols })
      await channel.request('tools/list', {})
      await channel.close()
    }
    expect(protocols).toEqual(new Map([[server.url, protocol]]))
    expect(asked(server).filter((method) => method === 'server/discover')).toHaveLength(1)
    expect(asked(server)[1]).toBe(first)
  })

  it.each<[string, string, (received: Received) => Answer, (received: Received) => Answer]>([
    ['modern', 'refuses the handshake', modern, () => ({ status: 400, text: 'MCP-Protocol-Version is missing' })],
    ['modern', 'answers the handshake with nothing', modern, ({ message }) => ({ text: result(message.id, {}) })],
    ['legacy', 'takes the handshake', legacy, legacy],
  ])('waits for a slow server, which is %s and %s', async (protocol, _, answer, greet) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const [probed, greeted] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    await using server = await serve(async (received) => {
      const { method } = received.message
      if (method === 'initialize') {
        greeted.resolve()
        return greet(received)
      }
      if (method === 'server/discover') {
        probed.resolve()
        // Its answer comes after that to the handshake, or with it.
        await greeted.promise
      }
      return answer(received)
    })
    const protocols = new Map<string, ProtocolSupport>()
    const opening = openChannel(server.url, { protocols })
    await probed.promise
    await vi.advanceTimersByTimeAsync(10_000)
    const channel = await opening
    await channel.request('tools/list', {})
    await channel.close()
    expect(protocols.get(server.url)).toBe(protocol)
  })

  it('calls nothing before a session-based server can ask on its stream', async () => {
    let isOpen = false
    const order: string[] = []
    await using server = await serve(async (received) => {
      const { method } = received.message
      if (received.verb === 'GET') {
        for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve))
        isOpen = true
        return { status: 405, text: '' }
      }
      if (method.startsWith('tools/')) order.push(`${method} with${isOpen ? '' : 'out'} a stream`)
      return legacy(received)
    })
    const channel = await openChannel(server.url, { elicit: async () => ({ action: 'decline' }) })
    await channel.request('tools/list', {})
    await channel.close()
    expect(order).toEqual(['tools/list with a stream'])
  })

  it('reads the supported versions from an error', async () => {
    await using server = await serve((received) => {
      const { id, method } = received.message
      if (method !== 'server/discover') return modern(received)
      const error = { code: -32022, message: 'Not like that.', data: { supported: [MODERN_VERSION] } }
      return { status: 400, text: JSON.stringify({ jsonrpc: '2.0', id, error }) }
    })
    const channel = await openChannel(server.url)
    await channel.request('tools/list', {})
    await channel.close()
    expect(asked(server)).toEqual(['server/discover', 'tools/list'])
  })

  it('reads an answer from an event stream, after notifications', async () => {
    await using server = await serve((received) => {
      if (received.message.method === 'server/discover') return modern(received)
      const progress = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params: {} })
      const answer = result(received.message.id, { content: [] })
      return {
        type: 'text/event-stream',
        text: `: hello\n\ndata: ${progress}\n\nevent: message\r\ndata: ${answer}\r\n\r\n`,
      }
    })
    const received: unknown[] = []
    const channel = await openChannel(server.url, {
      onMessage: (direction, message) =>
        direction === 'received' && received.push((message as JsonObject).method ?? 'answer'),
    })
    expect(await channel.request('tools/call', { name: 'x', arguments: {} })).toEqual({ content: [] })
    await channel.close()
    expect(received).toEqual(['answer', 'notifications/progress', 'answer'])
  })

  it.each(['größe', ' padded ', '=?base64?x?=', ''])('sends the name %j as a header can carry it', async (name) => {
    await using server = await serve(modern)
    const channel = await openChannel(server.url)
    await channel.request('tools/call', { name, arguments: {} })
    await channel.close()
    const header = String(server.received[1]?.headers['mcp-name'])
    expect(Buffer.from(header.slice('=?base64?'.length, -2), 'base64').toString()).toBe(name)
  })
})

describe('connect', () => {
  it('plays our own server without a handshake', async () => {
    await using endpoint = await (ENDPOINTS.http as () => ReturnType<(typeof ENDPOINTS)[string]>)()
    const protocols = new Map<string, ProtocolSupport>()
    const channel = await openChannel(endpoint.target, { protocols })
    expect([...protocols.values()]).toEqual(['either'])
    expect(await channel.request(METHODS.list, {})).toMatchObject({
      environments: [{ name: 'walk' }, { name: 'rest' }],
    })
    await channel.close()
    await using connection = await connect(endpoint.target)
    await using environment = connection.environment()
    const { observation } = await environment.reset({}, { seed: 'a' })
    expect(observation.text).not.toBe('')
  })
})
