import type { Rng } from '@episodic/protocol'
import { randomBytes } from './hostile-message.ts'

const METHODS = [
  'GET',
  'PUT',
  'HEAD',
  'TRACE',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'PROPFIND',
  'CONNECT',
  'POST',
  'BREW',
  'post',
  '',
]
const VERSIONS = ['HTTP/1.1', 'HTTP/1.0', 'HTTP/0.9', 'HTTP/2.0', 'HTTP/9.9', 'http/1.1', '']
const PATHS = [
  '/',
  '*',
  '/%00',
  '/mcp/../env',
  'http://localhost/mcp',
  '//mcp',
  '/mcp/s/',
  '/healthz',
  '/readyz',
  '/metrics',
  '/mcp?a=b',
]
const LENGTHS = ['-1', '0x10', '1e3', '99999999999999999999', '67108864', '5', '1, 1', '+3', ' ', '00']
const HEADERS: readonly string[] = [
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: gzip, chunked',
  'Transfer-Encoding: identity',
  'Transfer-Encoding : chunked',
  'Expect: 100-continue',
  'Expect: the worst',
  'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: eA==\r\nSec-WebSocket-Version: 13',
  'Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAA',
  'Host: evil.example',
  'Origin: https://evil.example',
  'Content-Type: text/plain',
  'Accept: text/html',
  'Mcp-Session-Id: ',
  'Mcp-Session-Id: __proto__',
  'MCP-Protocol-Version: 1066-10-14',
  'Authorization: Bearer nobody',
  'Authorization: Basic \x00',
  'Last-Event-ID: 1',
  'Connection: close',
  'Connection: keep-alive, __proto__',
  '__proto__: 1\r\nconstructor: 2',
  'no colon at all',
  ' folded: line',
  'X\x01Y: 1',
]

/**
 * Draws the bytes of one or more requests that are wrong somewhere: in the line, the headers, the length or the frames.
 */
export function drawRequest(rng: Rng, path: string, headers: readonly string[], body: Buffer): Buffer {
  if (rng.chance(0.05)) return randomBytes(rng, rng.int(1, 3_000))
  if (rng.chance(0.02)) return Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
  const line = [
    rng.chance(0.7) ? 'POST' : rng.pick(METHODS),
    rng.chance(0.7) ? path : rng.pick(PATHS),
    rng.chance(0.8) ? 'HTTP/1.1' : rng.pick(VERSIONS),
  ].join(' ')
  const length = rng.pick<string | number>([
    body.length,
    body.length,
    body.length + 10,
    body.length >> 1,
    rng.pick(LENGTHS),
  ])
  const chunked = rng.chance(0.2)
  const lines = [
    line,
    ...headers,
    chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`,
    ...Array.from({ length: rng.int(0, 2) }, () => rng.pick(HEADERS)),
    ...(rng.chance(0.05) ? Array.from({ length: rng.pick([100, 1_900, 5_000]) }, (_, index) => `a${index}: b`) : []),
    ...(rng.chance(0.03) ? [`Long: ${'x'.repeat(rng.int(1_000, 100_000))}`] : []),
  ]
  const end = rng.chance(0.1) ? '\n' : '\r\n'
  const head = Buffer.from(`${rng.chance(0.1) ? rng.shuffle(lines).join(end) : lines.join(end)}${end}${end}`, 'latin1')
  const whole = Buffer.concat([head, chunked ? inChunks(rng, body) : body])
  if (rng.chance(0.1)) return Buffer.concat(Array.from({ length: rng.int(2, 40) }, () => whole)).subarray(0, 200_000)
  if (rng.chance(0.1)) return Buffer.concat([whole, randomBytes(rng, 50)])
  return rng.chance(0.1) ? whole.subarray(0, rng.int(0, whole.length)) : whole
}

function inChunks(rng: Rng, body: Buffer): Buffer {
  const size = rng.pick([1, 7, 1_000, 65_536])
  const chunks: Buffer[] = []
  for (let at = 0; at < body.length && chunks.length < 6_000; at += size) {
    const chunk = body.subarray(at, at + size)
    chunks.push(Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n'))
  }
  return Buffer.concat([
    ...chunks,
    Buffer.from(rng.pick(['0\r\n\r\n', '0\r\n\r\n', '-1\r\n\r\n', 'ffffffffffffffff\r\n', ''])),
  ])
}
