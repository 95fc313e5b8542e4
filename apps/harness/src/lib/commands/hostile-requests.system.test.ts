import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { openModelProxy } from '@episodic/models/gateway/model-proxy'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop } from '../fixtures/episodic.fixture.ts'
import { serveMetrics } from '../fleet/serve-metrics.ts'
import { startViewing } from './show/view/view.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())

/** Targets of a request line, each of which some parser rejects or reads in another way. */
const TARGETS = [
  '//',
  '///',
  '//@',
  '//:80',
  '/\\',
  '\\\\',
  '*',
  '',
  '?',
  '#',
  'x',
  '@',
  ':',
  '/%',
  '/%zz',
  '/%00',
  '/%ff%fe',
  '/..',
  '/../../etc/passwd',
  '/%2e%2e/',
  '/\u0080\u00ff',
  'http://',
  'http:///',
  'http://[',
  'http://[::1',
  'http://%zz/',
  'http://a b/',
  'HTTP://127.0.0.1/',
  'https://elsewhere.example/api/runs',
  'ftp://x/',
  'javascript:alert(1)',
  '127.0.0.1:80',
  '/api/r/%E0%A4%A',
  '/api/search?q=%',
  '/mcp/s/%',
  '/mcp//',
  '/env/%zz',
  '/openenv//ws',
  '/openenv/%zz/ws',
  '/openenv/number-guessing/ws?session_id=%',
  '/conversations/%zz',
  `/${'a'.repeat(20_000)}`,
  `/?${'%'.repeat(5_000)}`,
]

/** Requests that are hostile in other parts than their targets. */
const REQUESTS = [
  'GET / HTTP/1.1\r\n\r\n',
  'GET / HTTP/1.1\r\nHost:\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: [\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: [::1\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: a:b:c\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: %\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: 127.0.0.1:99999999\r\n\r\n',
  'GET / HTTP/9.9\r\nHost: 127.0.0.1\r\n\r\n',
  'GET / HTTP/0.9\r\n\r\n',
  'GET /\r\n\r\n',
  '\r\n\r\n\r\n',
  '\u0000\u0001\u0002\r\n\r\n',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'CONNECT 127.0.0.1:80 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
  'OPTIONS * HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
  'TRACE / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
  'BREW / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
  `GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nx: ${'a'.repeat(100_000)}\r\n\r\n`,
  `GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n${'a: b\r\n'.repeat(3_000)}\r\n`,
  'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n: no name\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\ncookie: ;;=;%;\u0080\r\nauthorization: Bearer\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\norigin: :\r\nreferer: //\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nrange: bytes=9-1,,-\r\naccept-encoding: ;q=x\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nexpect: miracles\r\n\r\n',
  'POST / HTTP/1.1\r\nHost: 127.0.0.1\r\ncontent-length: -1\r\n\r\n',
  'POST / HTTP/1.1\r\nHost: 127.0.0.1\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n',
  'POST / HTTP/1.1\r\nHost: 127.0.0.1\r\ntransfer-encoding: gzip\r\n\r\n',
  'POST / HTTP/1.1\r\nHost: 127.0.0.1\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffffff\r\n',
  'POST /api/login HTTP/1.1\r\nHost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 4\r\n\r\nnull',
  'POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\ncontent-type: \u0080\r\ncontent-length: 2\r\n\r\n{}',
]

const upgrade = (target: string) =>
  `GET ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`

const HOSTILE = [
  ...REQUESTS,
  'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n',
  'GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-key: x\r\n\r\n',
  ...TARGETS.flatMap((target) => [
    `GET ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`,
    `POST ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}`,
    upgrade(target),
  ]),
]

/**
 * Sends bytes on a connection of their own, and waits for the first answer, or for its end. Some requests have no
 * answer.
 */
async function send(port: number, bytes: string): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  const over = Promise.race([once(socket, 'data'), once(socket, 'close')]).catch(() => {})
  socket.end(Buffer.from(bytes, 'latin1'))
  await over
  socket.destroy()
}

async function sendAll(port: number): Promise<void> {
  for (const bytes of HOSTILE) await send(port, bytes)
}

describe('a server of this package goes on after every hostile request', () => {
  beforeAll(async () => {
    mkdirSync(join(workshop.folder, 'runs'))
    const args = ['run', exampleWorld('number-guessing'), '--tasks', '1', '--out', 'runs/one']
    expect(await workshop.main(args)).toMatchObject({ status: 0 })
  })

  it('episodic view', async () => {
    const viewing = await startViewing(workshop)
    await sendAll(Number(new URL(viewing.origin).port))
    expect(await viewing.json('/api/runs')).toHaveLength(1)
    viewing.kill('SIGTERM')
    expect((await viewing.ended).err).toBe('')
  })

  it('episodic serve, at each of its ports', async () => {
    const worlds = [exampleWorld('number-guessing'), exampleWorld('flight-booking')]
    const ports = ['--openenv', '--nemo-gym-port', '0', '--ors-port', '0']
    const served = workshop.start(['serve', ...worlds, ...ports, '--port', '0', '--json'])
    const [line] = await served.until(/^\{"agentUrl".*\}$/m)
    const { agentUrl, nemoGymUrl, orsUrl } = JSON.parse(line) as Record<string, string>
    const urls = [agentUrl, nemoGymUrl, orsUrl].map((url) => new URL(url as string))
    for (const { port } of urls) await sendAll(Number(port))
    for (const { origin } of urls) expect((await fetch(origin)).status).toBeLessThan(500)
    served.kill('SIGTERM')
    expect((await served.ended).status).toBe(0)
  })

  it('the metrics of a queue', async () => {
    const status = async () => ({ paused: false, runs: [], workers: [] })
    await using metrics = await serveMetrics(
      { status, checkWritable: async () => {} },
      { port: 0, address: '127.0.0.1' },
    )
    await sendAll(Number(new URL(metrics.url).port))
    expect((await fetch(`${metrics.url}/healthz`)).status).toBe(200)
  })

  it('the proxy of models', async () => {
    await using proxy = await openModelProxy({ baseUrl: 'http://127.0.0.1:9/v1' })
    using models = proxy.open()
    await sendAll(Number(new URL(models.url).port))
    expect((await fetch(`${models.url}/models`)).status).toBe(502)
  })
})
