import { once } from 'node:events'
import { connect as connectSocket } from 'node:net'
import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import { DEFAULT_SEAT, type JsonObject, METHODS, type WireError } from '@episodic/protocol'
import fc from 'fast-check'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { createGatedStore } from '../fixtures/gated-store.fixture.ts'
import { MODERN_META, modernHeaders } from '../fixtures/official-clients.fixture.ts'
import {
  asking,
  controlHeaders,
  createTestHost,
  initialize,
  openOverHttp,
  rpc,
  send,
  serveTestHost,
} from '../fixtures/testbed.fixture.ts'
import { openWebSocket } from '../fixtures/web-socket.fixture.ts'
import type { HttpServer } from '../http/serve-http.ts'
import { serveStdio } from '../stdio/serve-stdio.ts'
import { inProcess } from './in-process.ts'
import { STATE_URI } from './state-resource.ts'

/** JSON texts that may not stand anywhere in the parameters, and a word of why. */
const HOSTILE: readonly (readonly [text: string, why: string])[] = [
  ['{"__proto__":{"polluted":1}}', '__proto__'],
  ['{"a":[{"b":{"__proto__":null}}]}', '__proto__'],
  ['{"constructor":{"prototype":{"polluted":1}}}', 'constructor'],
  ['"\\ud800"', 'surrogate'],
  ['{"\\udfff":1}', 'surrogate'],
  ['1e400', 'out of range'],
  ['[-1e400]', 'out of range'],
  ['['.repeat(65) + ']'.repeat(65), '64 deep'],
  [`[${'0,'.repeat(10_000)}0]`, '10000 values'],
  [`{${Array.from({ length: 10_001 }, (_, key) => `"k${key}":0`).join(',')}}`, '10000 values'],
]

const call = (value: string) => `{"name":"guess","arguments":{"value":5,"more":${value}}}`
const message = (params: string, id = '1') => `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":${params}}`

afterEach(() => {
  // biome-ignore lint/suspicious/noExplicitAny: what a merged __proto__ would have left
  expect(({} as any).polluted).toBeUndefined()
})

describe('parameters', () => {
  it.each(HOSTILE)('with %.40s are refused, and cost no step', async (text, why) => {
    const { server } = await serveTestHost()
    const headers = await initialize(server.agentUrl)
    const { text: answer } = await send(server.agentUrl, { headers, body: message(call(text)) })
    // One that is too long to be parsed at all has no id.
    const { code, message: said } = JSON.parse(answer).error
    expect([-32602, -32600]).toContain(code)
    expect(said).toContain(why)
    const next = await rpc(server.agentUrl, 'tools/call', { name: 'guess', arguments: { value: 1 } }, headers)
    expect(next.text).toContain('7 guesses left')
  })

  it('may have keys that only look dangerous', async () => {
    const { server } = await serveTestHost()
    const headers = await initialize(server.agentUrl)
    const harmless = '{"constructor":"Ferrari","prototype":{"of":1},"hasOwnProperty":2,"toJSON":3,"then":4,"":5}'
    expect((await send(server.agentUrl, { headers, body: message(call(harmless)) })).text).toContain('7 guesses left')
  })

  it.each([['resources/read', 'uri']])('of %s are refused if %s is no text, whatever it is', async (method, member) => {
    const { host, server } = await serveTestHost()
    const { seats } = await host.open(null, asking())
    const url = server.sessionUrl(seats[DEFAULT_SEAT]?.capability as string)
    for (const value of [{ toString: 1, valueOf: 2 }, ['x'], 5, true]) {
      const params = { [member]: value, _meta: MODERN_META }
      expect((await rpc(url, method, params, modernHeaders(method, 'x'))).json).toMatchObject({
        error: { code: -32602, message: expect.stringMatching(`^The ${member} of `) },
      })
    }
  })

  it('of a caller in the same process may be anything', async () => {
    const { host } = createTestHost()
    const channel = inProcess(host)
    const cycle: Record<string, unknown> = {}
    cycle.itself = cycle
    let tangle: unknown = []
    for (let level = 0; level < 60; level++) tangle = [tangle, tangle]
    for (const value of [
      cycle,
      tangle,
      1n,
      Symbol('x'),
      () => 1,
      new Date(),
      new Map(),
      Number.NaN,
      new Array(4_000_000_000),
    ])
      for (const params of [value, { name: 'guess', arguments: { value } }, { name: value }, { _meta: value }])
        await expect(channel.request('tools/call', params as JsonObject)).rejects.toMatchObject({
          code: 'invalid-params',
        })
    await expect(channel.request(Object.create(null), {})).rejects.toMatchObject({ code: 'invalid-request' })
  })

  it('that a schema refuses ten thousand times are explained in a few words', async () => {
    const { host } = createTestHost()
    const wrong = Object.fromEntries(Array.from({ length: 9_000 }, (_, key) => [`k${key}`, 1]))
    const refusal = await inProcess(host)
      .request(METHODS.open, wrong)
      .catch((error) => error as WireError)
    expect((refusal as WireError).message.length).toBeLessThan(1_200)
  })
})

describe('the name of a tool', () => {
  it('is repeated as far as a name may go', async () => {
    const { server } = await serveTestHost()
    const headers = await initialize(server.agentUrl)
    const { text } = await rpc(server.agentUrl, 'tools/call', { name: 'x'.repeat(500_000), arguments: {} }, headers)
    expect(text).toContain('There is no tool')
    expect(text.length).toBeLessThan(1_000)
  })
})

describe('an action that is larger than an answer may be', () => {
  it('is its sender’s mistake and no fault of the world', async () => {
    const { server, faults } = await serveTestHost()
    const { seats } = await openOverHttp(server, { limits: { bytes: 2_000 } })
    const url = server.sessionUrl(seats.agent?.capability as string)
    const { json } = await rpc(url, 'tools/call', { name: 'guess', arguments: { value: 'x'.repeat(3_000) } })
    expect(json.error?.data).toMatchObject({ code: 'invalid-params' })
    expect(faults).toEqual([])
    expect((await rpc(url, 'tools/call', { name: 'guess', arguments: { value: 1 } })).text).toContain('7 guesses left')
  })
})

describe('a message', () => {
  const answerTo = async (server: HttpServer, body: string | Buffer) => {
    const { status, text } = await send(server.trainerUrl, { headers: controlHeaders(server), body })
    return { status, ...(JSON.parse(text) as { id: unknown; error?: { code: number }; result?: unknown }) }
  }

  it.each([
    ['NaN', -32700],
    ['{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":NaN}}', -32700],
    ['{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":Infinity}}', -32700],
    ['\u0000', -32700],
    ['', -32700],
    ['[]', -32600],
    [`[${message(call('1'))},${message(call('1'))}]`, -32600],
    ['null', -32600],
    ['1e400', -32600],
    ['"ping"', -32600],
    [message(call('1'), 'null'), -32600],
    [message(call('1'), '1.5'), -32600],
    [message(call('1'), '1e400'), -32600],
    [message(call('1'), '9007199254740993'), -32600],
    [message(call('1'), '{"toString":1}'), -32600],
    [message(call('1'), 'true'), -32600],
    [message(call('1'), `"${'x'.repeat(257)}"`), -32600],
    [message(call('1'), '"\\ud800"'), -32600],
    [message(call('1'), '"a\\udfff"'), -32600],
    [message('null'), -32602],
    [message('{}'), -32602],
    [message('{"name":"guess","arguments":[]}'), -32602],
    ['{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":7}}', -32600],
    [Buffer.from([0x22, 0xff, 0x22]), -32600],
    [message('[]'), -32602],
    [message('"guess"'), -32602],
    ['{"jsonrpc":"2.0","id":1,"method":{"toString":1}}', -32600],
    ['{"jsonrpc":2,"id":1,"method":"ping"}', -32600],
    ['{"jsonrpc":"2.0","id":1,"method":"__proto__"}', -32601],
    ['{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":[]}}', -32602],
    ['['.repeat(1_000_000), -32600],
    ['{"a":'.repeat(170_000), -32600],
  ])('%.60s is refused as what it is', async (body, code) => {
    const { server } = await serveTestHost()
    expect((await answerTo(server, body)).error?.code).toBe(code)
  })

  it('may have an empty id, which the answer repeats', async () => {
    const { server } = await serveTestHost()
    expect(await answerTo(server, '{"jsonrpc":"2.0","id":"","method":"ping"}')).toEqual({
      status: 200,
      jsonrpc: '2.0',
      id: '',
      result: {},
    })
  })

  it('is read once: of equal keys the last is what is checked and what is used', async () => {
    const { server } = await serveTestHost()
    const headers = await initialize(server.agentUrl)
    const params = '{"name":"nothing","name":"guess","arguments":{"value":"x","value":50},"arguments":{"value":1}}'
    const { text } = await send(server.agentUrl, { headers, body: message(params) })
    expect(text).toContain('7 guesses left')
    const poisoned = '{"name":"guess","arguments":{"__proto__":1},"arguments":{"value":1}}'
    expect((await send(server.agentUrl, { headers, body: message(poisoned) })).text).toContain('6 guesses left')
  })
})

describe('a pipe', () => {
  it('refuses a line that is not UTF-8, and reads on', async () => {
    const { host } = createTestHost()
    const [input, output] = [new PassThrough(), new PassThrough()]
    const done = serveStdio(host, { input, output, lineBytes: 5_000 })
    onTestFinished(() => {
      input.end()
      return done
    })
    const lines = createInterface({ input: output })[Symbol.asyncIterator]()
    const next = async () => JSON.parse((await lines.next()).value as string)
    input.write(
      Buffer.concat([
        Buffer.from('{"jsonrpc":"2.0","id":1,"method":"'),
        Buffer.from([0xff, 0xfe]),
        Buffer.from('"}\n'),
      ]),
    )
    expect((await next()).error.code).toBe(-32600)
    input.write(`${'['.repeat(4_999)}\n`)
    expect((await next()).error.code).toBe(-32600)
    input.write('{"jsonrpc":"2.0","id":2,"method":"ping"}\n')
    expect(await next()).toEqual({ jsonrpc: '2.0', id: 2, result: {} })
    // What never ends is not a message.
    input.write('{"jsonrpc":"2.0","id":3,"method":"ping"}')
  })
})

describe('a flood', () => {
  it('of calls of one session is held off with a time to try again', async () => {
    const gate = createGatedStore()
    const { server } = await serveTestHost({}, { store: gate.store, bounds: { queue: 4 } })
    const { seats } = await openOverHttp(server)
    const url = server.sessionUrl(seats.agent?.capability as string)
    const guess = () => rpc(url, 'tools/call', { name: 'guess', arguments: { value: 1 } })
    const first = guess()
    await gate.reached
    const flood = Array.from({ length: 12 }, guess)
    const refused: Awaited<(typeof flood)[number]>[] = []
    for (const answer of flood) answer.then((found) => refused.push(found))
    // The first is held, and three wait behind it.
    await expect.poll(() => refused).toHaveLength(9)
    for (const { status, headers, json } of refused) {
      expect(status).toBe(429)
      expect(headers['retry-after']).toBe('1')
      expect(json.error?.data).toMatchObject({ code: 'rate-limited', retryAfterSeconds: 1 })
    }
    gate.open()
    await first
    const statuses = (await Promise.all(flood)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(3)
  })

  it('of requests on one connection, of which none waits for an answer, ends that connection alone', async () => {
    const { server } = await serveTestHost()
    const request = `GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n`
    const said = await shout(server.port, request.repeat(1_000))
    expect(said.split('HTTP/1.1').length - 1).toBeLessThan(1_000)
    const few = await shout(server.port, request.repeat(8) + request.replace('Host', 'Connection: close\r\nHost'))
    expect(few.match(/HTTP\/1\.1 200/g)).toHaveLength(9)
  })

  it('of connections is turned away at the bound, and those whose clients have a token go on', async () => {
    const rejections: unknown[] = []
    const { server } = await serveTestHost({
      limits: { connections: 1 },
      onRejected: (rejection) => rejections.push(rejection),
    })
    const { authorization } = controlHeaders(server)
    const request = `GET /env HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\n\r\n`
    const trainer = await connected(server.port, request)
    expect(trainer.said()).toMatch(/^HTTP\/1\.1 405/)
    expect(await shout(server.port, request)).toBe('')
    await expect.poll(() => rejections).toContainEqual({ endpoint: null, principal: null, code: 'connections' })
    expect(await trainer.say(request)).toMatch(/^HTTP\/1\.1 405/)
  })

  it('of idle connections without a token leaves room for every other client', async () => {
    const { server } = await serveTestHost({ limits: { connections: 8 } })
    const health = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n'
    const idle = await Promise.all(Array.from({ length: 8 }, () => connected(server.port, health)))
    for (const each of idle) expect(each.said()).toMatch(/^HTTP\/1\.1 200/)
    const { authorization } = controlHeaders(server)
    const request = `GET /env HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\n\r\n`
    const trainers = []
    for (let i = 0; i < 7; i++) trainers.push(await connected(server.port, request))
    for (const each of trainers) expect(each.said()).toMatch(/^HTTP\/1\.1 405/)
    // Other clients take the last place from each other.
    for (let i = 0; i < 20; i++) expect((await connected(server.port, health)).said()).toMatch(/^HTTP\/1\.1 200/)
    for (const each of trainers) expect(await each.say(request)).toMatch(/^HTTP\/1\.1 405/)
  })

  it('of requests that never end leaves room for trainers, at half of the places and more', async () => {
    const { server } = await serveTestHost({ limits: { connections: 8 } })
    const { 'mcp-session-id': id } = await initialize(server.agentUrl)
    const head = `Host: localhost\r\nContent-Type: application/json\r\nMcp-Session-Id: ${id}\r\n`
    const ways = [
      `POST /mcp HTTP/1.1\r\n${head}Content-Length: 1000\r\n\r\n{`,
      `POST /mcp HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`,
      'GET /mcp HTTP/1.1\r\nHost: loc',
      '',
    ]
    for (let i = 0; i < 24; i++) {
      const socket = connectSocket(server.port, '127.0.0.1')
      socket.on('error', () => {})
      onTestFinished(() => void socket.destroy())
      socket.write(ways[i % ways.length] as string)
      await once(socket, 'connect')
    }
    const { authorization } = controlHeaders(server)
    const request = `GET /env HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\n\r\n`
    const trainers = []
    for (let i = 0; i < 4; i++) trainers.push(await connected(server.port, request))
    for (const each of trainers) expect(each.said()).toMatch(/^HTTP\/1\.1 405/)
    for (const each of trainers) expect(await each.say(request)).toMatch(/^HTTP\/1\.1 405/)
  })
})

/** Opens a connection that stays, and sends a request. Resolves with the answer, and with what sends another. */
async function connected(port: number, request: string) {
  const socket = connectSocket(port, '127.0.0.1')
  socket.on('error', () => {})
  onTestFinished(() => void socket.destroy())
  let said = ''
  const say = (text: string) =>
    new Promise<string>((resolve) => {
      socket.once('data', (data) => resolve(data.toString()))
      socket.once('close', () => resolve('closed'))
      socket.write(text)
    })
  said = await say(request)
  return { say, said: () => said }
}

describe('a body in crumbs', () => {
  it('is not read to its end', async () => {
    const { server } = await serveTestHost()
    const { authorization } = controlHeaders(server)
    const head = `POST /env HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\nContent-Type: application/json\r\n`
    expect(
      await shout(server.port, `${head}Transfer-Encoding: chunked\r\n\r\n${'1\r\n \r\n'.repeat(5_000)}0\r\n\r\n`),
    ).toBe('')
    const body = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
    const crumbs = [...body].map((byte) => `1\r\n${byte}\r\n`).join('')
    expect(
      await shout(server.port, `${head}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n${crumbs}0\r\n\r\n`),
    ).toContain('"result":{}')
  })
})

/** Writes bytes on a socket of their own, and gives all that comes back until the server closes it. */
function shout(port: number, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    let said = ''
    const socket = connectSocket(port, '127.0.0.1', () => socket.write(bytes))
    socket.on('data', (data) => {
      said += data.toString('latin1')
    })
    // A server that hangs up on what it has not read resets the connection.
    socket.on('error', () => {})
    socket.on('close', () => resolve(said))
  })
}

describe('any subscription and cancellation', () => {
  const anyValue = fc.oneof(fc.constantFrom<unknown>(STATE_URI, 1, 2, '', null), fc.jsonValue({ maxDepth: 2 }))
  const anyMessage = fc.record({
    id: fc.oneof(fc.constantFrom<unknown>(1, 2, 'two', undefined, null), fc.jsonValue({ maxDepth: 1 })),
    method: fc.constantFrom(
      'resources/subscribe',
      'resources/unsubscribe',
      'resources/read',
      'subscriptions/listen',
      'notifications/cancelled',
      'prompts/get',
      'tools/call',
    ),
    params: fc.record(
      {
        uri: anyValue,
        requestId: anyValue,
        name: anyValue,
        notifications: fc.oneof(anyValue, fc.constant({ resourceSubscriptions: [STATE_URI] })),
        arguments: anyValue,
        ref: anyValue,
        argument: anyValue,
        _meta: fc.oneof(fc.constantFrom<unknown>(MODERN_META, { progressToken: 1 }, {}), anyValue),
      },
      { requiredKeys: [] },
    ),
  })

  it('leaves a connection that answers, in either protocol version', async () => {
    const { server, faults } = await serveTestHost({ limits: { rate: { calls: 1_000_000, seconds: 1 } } })
    await fc.assert(
      fc.asyncProperty(fc.array(anyMessage, { minLength: 1, maxLength: 12 }), async (messages) => {
        const { seats } = await openOverHttp(server)
        const socket = await openWebSocket(server.sessionUrl(seats[DEFAULT_SEAT]?.capability as string))
        for (const each of messages) socket.webSocket.send(JSON.stringify({ jsonrpc: '2.0', ...each }))
        socket.webSocket.send(JSON.stringify({ jsonrpc: '2.0', id: 'last', method: 'ping' }))
        for (let answer = await socket.next(); answer.id !== 'last'; answer = await socket.next())
          expect(answer.error?.code).not.toBe(-32603)
        socket.webSocket.terminate()
      }),
      { seed: 7, numRuns: 75 },
    )
    expect(faults).toEqual([])
  })

  it('is not a failure over HTTP', async () => {
    const { server } = await serveTestHost({ limits: { rate: { calls: 1_000_000, seconds: 1 } } })
    const { seats } = await openOverHttp(server)
    const url = server.sessionUrl(seats[DEFAULT_SEAT]?.capability as string)
    await fc.assert(
      fc.asyncProperty(anyMessage, fc.boolean(), async (message, modern) => {
        const headers = {
          // What takes no stream of events is answered at once.
          accept: 'application/json',
          ...(modern && modernHeaders(message.method, STATE_URI)),
        }
        const { status } = await send(url, { headers, body: JSON.stringify({ jsonrpc: '2.0', ...message }) })
        expect(status).toBeLessThan(500)
      }),
      { seed: 7, numRuns: 150 },
    )
  })
})
