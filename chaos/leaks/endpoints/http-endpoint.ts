import { connect } from 'node:net'
import { serveHttp } from '@episodic/mcp-server/http'
import { ENVELOPE, MODERN_VERSION } from '@episodic/protocol/internal'
import type { AgentEndpoint, EndpointSession } from './agent-endpoint.ts'

type HeaderFields = Readonly<Record<string, string>>
type RequestParts = readonly [method: string, path: string, headers: HeaderFields, body?: string]

const JSON_TYPE = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

/** Streamable HTTP on a loopback socket. Every request has its own connection, which is read to its last byte. */
export const httpEndpoint: AgentEndpoint = {
  name: 'http',
  async open(host) {
    // The rate limit is not under test and would slow the check down.
    const server = await serveHttp(host, { limits: { rate: { calls: 1_000_000_000, seconds: 1 } } })
    const { port, controlToken } = server
    const asTrainer = { ...JSON_TYPE, authorization: `Bearer ${controlToken}` }
    return {
      sendAsTrainer: (body) => exchange(port, 'POST', '/env', asTrainer, body),
      openSession: async (capability) => capabilitySession(port, capability),
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    }
  },
}

function capabilitySession(port: number, capability: string): EndpointSession {
  const path = `/mcp/s/${capability}`
  return {
    send: (body) => exchange(port, 'POST', path, { ...JSON_TYPE, ...statelessHeaders(body) }, body),
    collectNotifications: () => collectEvents(port, path),
    unusualRequests: unusualRequests(port, path),
    async close() {},
  }
}

function statelessHeaders(body: string): HeaderFields {
  if (!body.includes(ENVELOPE.version)) return {}
  const { method, params } = JSON.parse(body)
  const name: unknown = params.name ?? params.uri
  return {
    'mcp-protocol-version': MODERN_VERSION,
    'mcp-method': method,
    ...(typeof name === 'string' && { 'mcp-name': name }),
  }
}

function unusualRequests(port: number, path: string): EndpointSession['unusualRequests'] {
  const ask = (method: string, at = path, headers: HeaderFields = {}, body?: string) =>
    exchange(port, method, at, headers, body)
  const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })
  return {
    GET: () => ask('GET'),
    PUT: () => ask('PUT', path, JSON_TYPE, ping),
    OPTIONS: () => ask('OPTIONS', path, { origin: 'http://elsewhere.example' }),
    'an unknown path': () => ask('GET', '/nowhere'),
    'an unknown capability': () => ask('POST', '/mcp/s/cap_0', JSON_TYPE, ping),
    'an unknown transport session': () => ask('POST', '/mcp', { ...JSON_TYPE, 'mcp-session-id': 'mcp_0' }, ping),
    'no transport session': () => ask('POST', '/mcp', JSON_TYPE, ping),
    'an unknown environment': () => ask('POST', '/mcp/e/nowhere', JSON_TYPE, ping),
    'the trainer endpoint': () => ask('POST', '/env', JSON_TYPE, ping),
    'the trainer endpoint with a wrong token': () =>
      ask('POST', '/env', { ...JSON_TYPE, authorization: 'Bearer guessed' }, ping),
    'another content type': () => ask('POST', path, { 'content-type': 'text/plain' }, ping),
    'another answer type': () => ask('POST', path, { ...JSON_TYPE, accept: 'text/html' }, ping),
    'another protocol version': () => ask('POST', path, { ...JSON_TYPE, 'mcp-protocol-version': '1999-01-01' }, ping),
    'another origin': () => ask('POST', path, { ...JSON_TYPE, origin: 'http://elsewhere.example' }, ping),
    'a body over the size limit': () => ask('POST', path, JSON_TYPE, `"${'x'.repeat(1_100_000)}"`),
    'a readiness probe': () => ask('GET', '/readyz'),
    'the metrics': () => ask('GET', '/metrics'),
    'invalid HTTP': () => sendBytes(port, 'HELO\r\n\r\n'),
  }
}

/** Resolves with every byte of the answer except the Date header. */
function exchange(port: number, ...request: RequestParts): Promise<string> {
  return sendBytes(port, requestText(port, ...request))
}

/**
 * Opens the event stream of a GET. To end it, this side closes its half of the connection; the server then closes the
 * other half, after every event that it has written.
 */
async function collectEvents(port: number, path: string) {
  const { promise: opened, resolve: open } = Promise.withResolvers<void>()
  const { promise: closed, resolve: close } = Promise.withResolvers<void>()
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  let received = ''
  socket.setEncoding('utf8')
  socket.on('data', (text: string) => {
    received += text
    open()
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    open()
    close()
  })
  socket.on('end', () => socket.destroy())
  socket.write(requestText(port, 'GET', path, { accept: 'text/event-stream' }))
  await opened
  return async () => {
    socket.end()
    await closed
    return withoutTime(withoutKeepAlives(received))
  }
}

/** The head and the events of a stream, without keep-alive comments, which depend on the clock. */
function withoutKeepAlives(stream: string): string {
  const [head = ''] = stream.split('\r\n\r\n', 1)
  return [`${head}\r\n`, ...(stream.match(/^(event|id|data): .*$/gm) ?? [])].join('\n')
}

function requestText(port: number, ...[method, path, headers, body]: RequestParts): string {
  const lines = Object.entries({
    host: `127.0.0.1:${port}`,
    connection: 'close',
    ...headers,
    ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`
}

function sendBytes(port: number, request: string): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    const socket = connect(port, '127.0.0.1')
    socket.on('data', (chunk) => chunks.push(chunk))
    // A server may answer and close before it has read an oversized body. The answer counts.
    socket.on('error', () => {})
    socket.on('close', () => resolve(withoutTime(Buffer.concat(chunks).toString('utf8'))))
    socket.write(request)
  })
}

function withoutTime(answer: string): string {
  return answer.replace(/^date: .*\r\n/im, '')
}
