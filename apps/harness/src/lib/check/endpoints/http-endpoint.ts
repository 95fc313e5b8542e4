import { connect } from 'node:net'
import { serveHttp } from '@episodic/mcp-server/http'
import type { AgentDoor, Conversation } from './agent-endpoint.ts'

const JSON_TYPE = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

/** Streamable HTTP on a socket of this machine. Every request has a connection of its own, read to its last byte. */
export const httpDoor: AgentDoor = {
  name: 'http',
  async open(host) {
    // The guard of the rate is not what is looked at, and would only hold up the looking.
    const server = await serveHttp(host, { rate: { calls: 1_000_000_000, seconds: 1 } })
    const { port } = server
    return {
      converse: async (capability) => (capability === null ? talkPlainly(port) : talkAs(port, capability)),
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    }
  },
}

function talkAs(port: number, capability: string): Conversation {
  const path = `/mcp/s/${capability}`
  return {
    say: (body) => exchange(port, 'POST', path, JSON_TYPE, body),
    listen: () => listen(port, path, {}),
    oddities: oddities(port, path, {}),
    async close() {},
  }
}

function talkPlainly(port: number): Conversation {
  let session: Readonly<Record<string, string>> = {}
  return {
    async say(body) {
      const answer = await exchange(port, 'POST', '/mcp', { ...JSON_TYPE, ...session }, body)
      const id = /^mcp-session-id: *(\S+)/im.exec(answer)?.[1]
      if (id !== undefined) session = { 'mcp-session-id': id }
      return answer
    },
    listen: () => listen(port, '/mcp', session),
    get oddities() {
      return oddities(port, '/mcp', session)
    },
    async close() {
      await exchange(port, 'DELETE', '/mcp', session)
    },
  }
}

function oddities(
  port: number,
  path: string,
  own: Readonly<Record<string, string>>,
): Readonly<Record<string, () => Promise<string>>> {
  const ask = (method: string, at = path, headers: Readonly<Record<string, string>> = {}, body?: string) =>
    exchange(port, method, at, { ...own, ...headers }, body)
  const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })
  return {
    GET: () => ask('GET'),
    PUT: () => ask('PUT', path, JSON_TYPE, ping),
    OPTIONS: () => ask('OPTIONS', path, { origin: 'http://elsewhere.example' }),
    'a path that is none': () => ask('GET', '/nowhere'),
    'a capability that is none': () => ask('POST', '/mcp/s/cap_0', JSON_TYPE, ping),
    'a transport session that is none': () => ask('POST', '/mcp', { ...JSON_TYPE, 'mcp-session-id': 'mcp_0' }, ping),
    'no transport session': () => exchange(port, 'POST', '/mcp', JSON_TYPE, ping),
    'a world that is none': () => ask('POST', '/mcp/e/nowhere', JSON_TYPE, ping),
    'the trainer endpoint': () => ask('POST', '/env', JSON_TYPE, ping),
    'the trainer endpoint with a wrong token': () =>
      ask('POST', '/env', { ...JSON_TYPE, authorization: 'Bearer guessed' }, ping),
    'another content type': () => ask('POST', path, { 'content-type': 'text/plain' }, ping),
    'another answer type': () => ask('POST', path, { ...JSON_TYPE, accept: 'text/html' }, ping),
    'another protocol version': () => ask('POST', path, { ...JSON_TYPE, 'mcp-protocol-version': '1999-01-01' }, ping),
    'another origin': () => ask('POST', path, { ...JSON_TYPE, origin: 'http://elsewhere.example' }, ping),
    'a body that is too large': () => ask('POST', path, JSON_TYPE, `"${'x'.repeat(1_100_000)}"`),
    'a probe': () => ask('GET', '/readyz'),
    'the counters': () => ask('GET', '/metrics'),
    'no request at all': () => send(port, 'HELO\r\n\r\n'),
  }
}

/** One request, and every byte of its answer but the time of day. */
function exchange(
  port: number,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body?: string,
): Promise<string> {
  return send(port, requestText(port, method, path, headers, body))
}

/**
 * Opens the stream of events that GET answers with. To end it, this side says that it has nothing more to send: the server
 * hangs up then, and every event that it wrote before comes before that.
 */
async function listen(port: number, path: string, own: Readonly<Record<string, string>>) {
  const { promise: opened, resolve: open } = Promise.withResolvers<void>()
  const { promise: closed, resolve: close } = Promise.withResolvers<void>()
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  let heard = ''
  socket.setEncoding('utf8')
  socket.on('data', (text: string) => {
    heard += text
    open()
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    open()
    close()
  })
  socket.on('end', () => socket.destroy())
  socket.write(requestText(port, 'GET', path, { ...own, accept: 'text/event-stream' }))
  await opened
  return async () => {
    socket.end()
    await closed
    return withoutTime(withoutSigns(heard))
  }
}

/** The head of a stream of events, and its events: what shows in between that it is still in use comes by the clock. */
function withoutSigns(stream: string): string {
  const [head = ''] = stream.split('\r\n\r\n', 1)
  return [`${head}\r\n`, ...(stream.match(/^(event|id|data): .*$/gm) ?? [])].join('\n')
}

function requestText(
  port: number,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body?: string,
): string {
  const lines = Object.entries({
    host: `127.0.0.1:${port}`,
    connection: 'close',
    ...headers,
    ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`
}

function send(port: number, request: string): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    const socket = connect(port, '127.0.0.1')
    socket.on('data', (chunk) => chunks.push(chunk))
    // A server may answer and hang up before it has read what is too large: what it said counts.
    socket.on('error', () => {})
    socket.on('close', () => resolve(withoutTime(Buffer.concat(chunks).toString('utf8'))))
    socket.write(request)
  })
}

function withoutTime(answer: string): string {
  return answer.replace(/^date: .*\r\n/im, '')
}
