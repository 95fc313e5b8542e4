import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type JsonObject, METHODS } from '@episodic/protocol'
import { ENVELOPE, MODERN_VERSION } from '@episodic/protocol/extend'
import { describe, expect, it } from 'vitest'
import { connect } from '../connect.ts'
import { DOORS } from '../fixtures/endpoints.fixture.ts'
import type { Era } from './era.ts'
import { openChannel } from './open-channel.ts'

interface Received {
  readonly headers: IncomingHttpHeaders
  readonly verb: string | undefined
  readonly message: { readonly id?: number; readonly method: string; readonly params?: JsonObject }
}

/** A server of MCP that answers as it is told, and what came to it. */
async function serve(answer: (received: Received) => { status?: number; type?: string; text: string }) {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    const body = (await request.setEncoding('utf8').toArray()).join('')
    const got = { headers: request.headers, verb: request.method, message: JSON.parse(body || '{"method":""}') }
    received.push(got)
    const { status = 200, type = 'application/json', text } = answer(got)
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

/** A server of the modern era, which says what it was asked. */
const modern = ({ message: { id, method, params } }: Received) => ({
  text: result(id, method === 'server/discover' ? DISCOVERED : { resultType: 'complete', asked: params ?? null }),
})

/** A server of the era before, which gives out a session. */
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
  it('asks a server once for its era, and speaks the modern one without a handshake', async () => {
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

  it('shakes hands with a server of the era before', async () => {
    await using server = await serve(legacy)
    const channel = await openChannel(server.url)
    expect(await channel.request('tools/list', {})).toEqual({ tools: [] })
    await channel.close()
    expect(asked(server).slice(0, 3)).toEqual(['server/discover', 'initialize', 'notifications/initialized'])
  })

  it.each<[Era, typeof modern, string]>([
    ['modern', modern, 'tools/list'],
    ['legacy', legacy, 'initialize'],
  ])('does not ask a server again that is known to be %s', async (era, answer, first) => {
    await using server = await serve(answer)
    const eras = new Map<string, Era>()
    for (let i = 0; i < 2; i++) {
      const channel = await openChannel(server.url, { eras })
      await channel.request('tools/list', {})
      await channel.close()
    }
    expect(eras).toEqual(new Map([[server.url, era]]))
    expect(asked(server).filter((method) => method === 'server/discover')).toHaveLength(1)
    expect(asked(server)[1]).toBe(first)
  })

  it('takes the word of a server that says in a refusal what it speaks', async () => {
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

  it('reads an answer from a stream of events, after what was told on the way', async () => {
    await using server = await serve((received) => {
      if (received.message.method === 'server/discover') return modern(received)
      const progress = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params: {} })
      const answer = result(received.message.id, { content: [] })
      return {
        type: 'text/event-stream',
        text: `: hello\n\ndata: ${progress}\n\nevent: message\r\ndata: ${answer}\r\n\r\n`,
      }
    })
    const heard: unknown[] = []
    const channel = await openChannel(server.url, {
      onMessage: (direction, message) =>
        direction === 'received' && heard.push((message as JsonObject).method ?? 'answer'),
    })
    expect(await channel.request('tools/call', { name: 'x', arguments: {} })).toEqual({ content: [] })
    await channel.close()
    expect(heard).toEqual(['answer', 'notifications/progress', 'answer'])
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
  it('plays our own server without a handshake, in requests as short as can be', async () => {
    await using door = await (DOORS.http as () => ReturnType<(typeof DOORS)[string]>)()
    const eras = new Map<string, Era>()
    const channel = await openChannel(door.target, { eras })
    expect([...eras.values()]).toEqual(['either'])
    expect(await channel.request(METHODS.list, {})).toMatchObject({
      environments: [{ name: 'walk' }, { name: 'rest' }],
    })
    await channel.close()
    await using connection = await connect(door.target)
    await using environment = connection.environment()
    const { observation } = await environment.reset({}, { seed: 'era' })
    expect(observation.text).not.toBe('')
  })
})
