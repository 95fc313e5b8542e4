import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net'
import { METHODS } from '@episodic/protocol'
import { ENVELOPE, MODERN_VERSION } from '@episodic/protocol/internal'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createGatedStore } from '../../fixtures/gated-store.fixture.ts'
import { createExchange, createMarket } from '../../fixtures/market.fixture.ts'
import { createTestHost, openOverHttp, send, serve, serveTestHost } from '../../fixtures/testbed.fixture.ts'
import { Answers } from '../responses.ts'
import type { HttpServer } from '../serve-http.ts'
import { createPlainConnections, type PlainRequest, PlainRequests } from './connection.ts'

const MARK = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'

/** A request of a call, with what a test wants to be different. */
function post(path: string, message: unknown, { headers = {}, body = JSON.stringify(message) }: Sent = {}): string {
  const sent = { Host: 'localhost', 'Content-Type': 'application/json', ...headers }
  const lines = Object.entries(sent).map(([name, value]) => `${name}: ${value}\r\n`)
  return `POST ${path} HTTP/1.1\r\n${lines.join('')}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}
interface Sent {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

const rpc = (method: string, params: object = {}, id: unknown = 1) => ({ jsonrpc: '2.0', id, method, params })
const guess = (value: number, id = value) => rpc('tools/call', { name: 'guess', arguments: { value } }, id)

/** The ids of the answers that came, in order. */
const ids = (text: string) => [...text.matchAll(/^\{"jsonrpc":"2.0","id":(\d+)/gm)].map(([, id]) => Number(id))

/** A raw connection, and what came on it. */
async function dial(server: { readonly port: number }) {
  const socket = connect({ port: server.port, host: '127.0.0.1', noDelay: true })
  onTestFinished(() => void socket.destroy())
  let text = ''
  socket.setEncoding('latin1').on('data', (piece: string) => {
    text += piece
  })
  socket.on('error', () => {})
  await once(socket, 'connect')
  return {
    socket,
    /** Resolves with all that came, once so many answers have, or the server hangs up. */
    async answers(count: number): Promise<string> {
      while (!socket.closed && countAnswers(text) < count)
        await new Promise<void>((resolve) => {
          socket.once('data', () => resolve())
          closed(socket).then(resolve)
        })
      return text
    },
    /** The same, once the server has answered a last request and hung up. */
    async rest(): Promise<string> {
      if (socket.writable) socket.write(MARK)
      await closed(socket)
      return text
    },
  }
}

/** Resolves when a connection is gone, however. */
function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => (socket.closed ? resolve() : socket.once('close', () => resolve())))
}

/** Answers that have come whole. */
function countAnswers(text: string): number {
  let count = 0
  for (let at = 0; ; count++) {
    const end = text.indexOf('\r\n\r\n', at)
    if (end < 0) return count
    const length = /content-length: (\d+)/i.exec(text.slice(at, end))?.[1]
    const chunked = /transfer-encoding: chunked/i.test(text.slice(at, end))
    const last = chunked ? text.indexOf('0\r\n\r\n', end + 4) : -1
    at = chunked ? last + 5 : end + 4 + Number(length ?? 0)
    if (at > text.length || (chunked && last < 0)) return count
  }
}

async function open(server: HttpServer) {
  const { session, seats } = await openOverHttp(server, { seed: 'plain', environment: 'number-guessing' })
  return { session, path: `/mcp/s/${seats.agent?.capability}` }
}

describe('a server that answers plain requests by itself', () => {
  it('answers any request with the bytes of node:http', async () => {
    const { host } = createTestHost()
    const plain = await serve(host)
    const whole = await serve(host, { fastPath: false, auth: { controlToken: plain.controlToken } })
    const header = (name: string, ...values: string[]) =>
      fc.tuple(fc.constantFrom(name, name.toLowerCase()), fc.constantFrom(...values), fc.constantFrom(': ', ':', ':\t'))
    const requests = fc.record({
      line: fc.oneof(
        { weight: 6, arbitrary: fc.constant('POST PATH HTTP/1.1') },
        fc.constantFrom('POST PATH HTTP/1.0', 'PUT PATH HTTP/1.1', 'post PATH HTTP/1.1', 'POST  PATH HTTP/1.1', 'POST'),
      ),
      path: fc.constantFrom('seat', '/env', '/mcp', '/nowhere', '/env?a=1', '*', 'http://localhost/env', '/m\u00fc'),
      headers: fc.array(
        fc.oneof(
          header('Accept', 'application/json', 'application/json, text/event-stream', 'text/html'),
          header('Content-Type', 'application/json', 'application/json; charset=utf-8', 'text/plain'),
          header('Origin', 'http://localhost:3000', 'https://evil.example'),
          header('Host', 'localhost', '127.0.0.1:80', 'evil.example'),
          header('Connection', 'keep-alive', 'Keep-Alive', 'close', 'x'),
          header('Expect', '100-continue'),
          header('Proxy-Connection', 'close', 'keep-alive'),
          header('Authorization', `Bearer ${plain.controlToken}`, 'Bearer nobody', ''),
          header('MCP-Protocol-Version', '2025-11-25', '2026-07-28', '1999-01-01'),
          header('X-Odd', 'a\u00e4b', 'tab\there', ' spaces ', 'a\u0000b', 'a\nb: c', 'a\rb'),
          header('__proto__', 'x'),
          header('constructor', 'x'),
          header('Bad Name', 'x'),
        ),
        { maxLength: 6 },
      ),
      body: fc.oneof(
        fc.integer({ min: 0, max: 60 }).map((value) => JSON.stringify(guess(value))),
        fc.constantFrom(
          JSON.stringify(rpc('tools/list')),
          JSON.stringify(rpc(METHODS.list)),
          JSON.stringify(rpc('ping', { note: '\u00fc\u4e16' })),
          JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }),
          '{"jsonrpc": "2.0", ',
          '[]',
          '',
          '\ud800',
        ),
      ),
      short: fc.constantFrom(0, 0, 0, 0, 1),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(requests, { minLength: 1, maxLength: 3 }), async (sent) => {
        const said = []
        for (const server of [plain, whole]) {
          const { path: seat } = await open(server)
          const client = await dial(server)
          let count = 0
          for (const { line, path, headers, body, short } of sent) {
            if (!client.socket.writable) break
            const bytes = Buffer.from(body)
            const all = [['Host', 'localhost', ': '], ['Content-Type', 'application/json', ': '], ...headers]
            // Mostly each name once, so that most requests are plain.
            const kept =
              headers.length % 2 ? all : [...new Map(all.map((each) => [each[0]?.toLowerCase(), each])).values()]
            const head = [
              line.replace('PATH', path === 'seat' ? seat : path),
              ...kept.map(([name, value, colon]) => `${name}${colon}${value}`),
              `Content-Length: ${Math.max(0, bytes.length - short)}`,
            ]
            client.socket.write(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'), bytes]))
            await client.answers(++count)
          }
          said.push((await client.rest()).replaceAll(/^Date: .*$/gm, 'Date: now'))
        }
        expect(said[0]).toBe(said[1])
      }),
      { numRuns: 200 },
    )
  })

  it('answers all pipelined requests, in order', async () => {
    const { store, reached, open: letThrough } = createGatedStore()
    const { server } = await serveTestHost({}, { store })
    const { path } = await open(server)
    const client = await dial(server)
    client.socket.write(post(path, guess(1)))
    await reached
    client.socket.write(post(path, guess(2)))
    client.socket.write(post(path, guess(3)) + post(path, guess(4)))
    letThrough()
    expect(ids(await client.answers(4))).toEqual([1, 2, 3, 4])
    client.socket.write(post(path, guess(5)))
    expect(ids(await client.rest())).toEqual([1, 2, 3, 4, 5])
  })

  it('reads requests that arrive in pieces, and those that follow', async () => {
    const { server } = await serveTestHost()
    const { path } = await open(server)
    const client = await dial(server)
    client.socket.write(post(path, guess(1)))
    await client.answers(1)
    const text = post(path, guess(2))
    for (const [count, at] of [3, 40, text.indexOf('\r\n\r\n') + 4, text.length - 2].entries()) {
      const pieces = post(path, guess(count + 2))
      client.socket.write(pieces.slice(0, at))
      // What was sent before it has been read when another connection is answered.
      const other = await dial(server)
      await other.rest()
      client.socket.write(pieces.slice(at))
      expect(ids(await client.answers(count + 2)).at(-1)).toBe(count + 2)
    }
    client.socket.write('POST /env HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n')
    expect(await client.answers(6)).toContain('HTTP/1.1 401')
  })

  it('streams the notifications before an answer', async () => {
    const { server } = await serveTestHost({}, { environments: [createMarket(createExchange())] })
    const { seats } = await openOverHttp(server, { environment: 'market' })
    const client = await dial(server)
    const params = { name: 'quote', arguments: { shares: 2 }, _meta: { progressToken: 'fee' } }
    const headers = { Accept: 'application/json, text/event-stream' }
    const path = `/mcp/s/${seats.agent?.capability}`
    client.socket.write(post(path, rpc('tools/call', params), { headers }))
    expect(await client.answers(1)).toMatch(/text\/event-stream.*"notifications\/progress".*"result":.*\r\n0\r\n\r\n$/s)
    client.socket.write(post(path, rpc('tools/call', { ...params, _meta: {} }, 2), { headers }))
    expect(ids(await client.answers(2))).toEqual([2])
  })

  it('closes the connection after a call that it rejects while draining, as node:http does', async () => {
    const { host } = createTestHost()
    const said = []
    for (const fastPath of [true, false]) {
      const server = await serve(host, { fastPath })
      const { path } = await open(server)
      const client = await dial(server)
      client.socket.write(post(path, guess(1)))
      await client.answers(1)
      await server.drain()
      client.socket.write(post(path, guess(2)))
      await closed(client.socket)
      said.push((await client.rest()).replaceAll(/^Date: .*$/gm, 'Date: now'))
    }
    expect(said[0]).toContain('HTTP/1.1 503')
    expect(said[0]).toBe(said[1])
  })

  it('cancels a waiting call when its client hangs up, even after further requests', async () => {
    const exchange = createExchange()
    const asked = Promise.withResolvers<AbortSignal>()
    exchange.order = (_, signal) => {
      asked.resolve(signal)
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    }
    const { server } = await serveTestHost({}, { environments: [createMarket(exchange)] })
    const { seats } = await openOverHttp(server, { environment: 'market' })
    const client = await dial(server)
    const _meta = {
      [ENVELOPE.version]: MODERN_VERSION,
      [ENVELOPE.capabilities]: {},
      [ENVELOPE.client]: { name: 'raw', version: '1.0.0' },
    }
    const headers = { 'MCP-Protocol-Version': MODERN_VERSION, 'Mcp-Method': 'tools/call', 'Mcp-Name': 'quote' }
    const quote = rpc('tools/call', { name: 'quote', arguments: { shares: 2 }, _meta })
    client.socket.write(post(`/mcp/s/${seats.agent?.capability}`, quote, { headers }))
    const signal = await asked.promise
    for (let sent = 0; sent < 2; sent++) {
      client.socket.write('\r\n')
      // What was sent before it has been read when another connection is answered.
      await (await dial(server)).rest()
    }
    client.socket.destroy()
    await new Promise<void>((resolve) =>
      signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve()),
    )
  })

  it('ends a connection whose answer cannot be written, and writes nothing more to it', async () => {
    const answers = new Answers()
    const server = createServer()
    onTestFinished(() => void server.close())
    createPlainConnections(server, {
      leaves: () => false,
      answer(_, response) {
        response.writeHead(200).write('begun')
        answers.json(response, 200, '{}')
      },
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const client = await dial(server.address() as AddressInfo)
    client.socket.write(post('/', {}))
    await closed(client.socket)
    expect((await client.rest()).match(/HTTP\/1\.1/g)).toHaveLength(1)
  })

  it('hangs up when it is disposed of', async () => {
    const { host } = createTestHost()
    const server = await serve(host)
    const { path } = await open(server)
    const client = await dial(server)
    client.socket.write(post(path, guess(1)))
    await client.answers(1)
    await server[Symbol.asyncDispose]()
    await closed(client.socket)
  })
})

const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', note: 'ünd' })

/** Sends a request to a socket, and gives what is made of the first piece of it that arrives. */
async function readFirst(ask: (url: string) => Promise<unknown>): Promise<PlainRequest | null> {
  const server = createTcpServer().listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const asking = ask(`http://127.0.0.1:${(server.address() as AddressInfo).port}/env`).catch(() => {})
  const [socket] = (await once(server, 'connection')) as [Socket]
  const [piece] = (await once(socket, 'data')) as [Buffer]
  const request = new PlainRequests().read(socket, piece)
  socket.destroy()
  await asking
  return request
}

const noted = { 'content-type': 'application/json', 'X-Note': '  a note ' }

it.for([
  ['undici', (url: string) => send(url, { headers: noted, body })],
  ['fetch', (url: string) => fetch(url, { method: 'POST', headers: noted, body })],
] as const)('reads what %s sends', async ([, ask]) => {
  const request = await readFirst(ask)
  expect(request).toMatchObject({ method: 'POST', url: '/env' })
  expect(request?.headers).toMatchObject({ 'content-type': 'application/json', 'x-note': 'a note' })
  expect(request?.body.toString()).toBe(body)
})

it('leaves long requests to node:http', async () => {
  expect(await readFirst((url) => send(url, { headers: { 'X-Note': 'n'.repeat(9_000) }, body }))).toBeNull()
  expect(await readFirst((url) => send(url, { body: 'x'.repeat(1_000_000) }))).toBeNull()
  const many = Object.fromEntries(Array.from({ length: 70 }, (_, i) => [`x-${i}`, '']))
  expect(await readFirst((url) => send(url, { headers: many, body }))).toBeNull()
})
