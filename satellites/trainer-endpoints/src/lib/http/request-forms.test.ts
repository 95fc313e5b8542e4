import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { createHost } from '@episodic/mcp-server'
import { serveHttp } from '@episodic/mcp-server/http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { row } from '../fixtures/nemo-gym-client.fixture.ts'
import { numberGuessing } from '../fixtures/number-guessing.fixture.ts'
import { serveNemoGym } from '../nemo-gym/serve-nemo-gym.ts'
import { openEnvRoutes } from '../openenv/routes.ts'
import { serveOrs } from '../ors/serve-ors.ts'

const TOKEN = 'a-control-token-of-this-test'

async function serve() {
  const stack = new AsyncDisposableStack()
  onTestFinished(() => stack.disposeAsync())
  const auth = { controlToken: TOKEN }
  const host = stack.use(createHost({ environments: [numberGuessing] }))
  const openEnv = stack.use(await serveHttp(host, { auth, extraRoutes: openEnvRoutes(host) }))
  const ors = stack.use(await serveOrs(host, { auth }))
  const nemoGym = stack.use(await serveNemoGym(host, { auth, asksTokens: true }))
  return { openEnv, ors, nemoGym }
}

/** A request that opens an episode, at each endpoint. */
const OPENINGS = {
  openEnv: { path: '/openenv/number-guessing/reset', body: {} },
  ors: { path: '/create', body: { task_spec: {} } },
  nemoGym: { path: '/seed_session', body: row() },
} as const
type Endpoint = keyof typeof OPENINGS
const ENDPOINTS = Object.keys(OPENINGS) as Endpoint[]

/** Sends a request by hand. Resolves with the status and the body of the answer. */
async function send(port: number, target: string, headers: readonly string[], body: Uint8Array | string) {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  const lines = [`POST ${target} HTTP/1.1`, `Host: 127.0.0.1:${port}`, 'Connection: close', ...headers]
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  socket.write(body)
  const answer = await text(socket)
  return { status: Number(answer.split(' ')[1]), text: answer.slice(answer.indexOf('\r\n\r\n') + 4) }
}

const lengthOf = (body: Uint8Array | string) => `Content-Length: ${Buffer.byteLength(body)}`
const OWN = [`Authorization: Bearer ${TOKEN}`, 'X-Session-ID: session', 'Content-Type: application/json']

describe.each(ENDPOINTS)('a request to %s', (endpoint) => {
  const { path, body } = OPENINGS[endpoint]
  const sent = JSON.stringify(body)

  it('may come in chunks, and in absolute form', async () => {
    const { port } = (await serve())[endpoint]
    const chunked = `${sent.length.toString(16)}\r\n${sent}\r\n0\r\n\r\n`
    expect(await send(port, path, [...OWN, 'Transfer-Encoding: chunked'], chunked)).toMatchObject({ status: 200 })
    const absolute = `http://127.0.0.1:${port}${path}`
    expect(await send(port, absolute, [...OWN, lengthOf(sent)], sent)).toMatchObject({ status: 200 })
  })

  it('is refused with a compressed body, by its encoding', async () => {
    const { port } = (await serve())[endpoint]
    const zipped = gzipSync(sent)
    const { status, text } = await send(port, path, [...OWN, 'Content-Encoding: gzip', lengthOf(zipped)], zipped)
    expect([status, JSON.parse(text).detail]).toEqual([415, expect.stringContaining('Content-Encoding: gzip')])
  })

  it('is refused with half a surrogate pair, which is no character', async () => {
    const { port } = (await serve())[endpoint]
    const half = `${sent.slice(0, -1)}${sent === '{}' ? '' : ','}"note":"\\ud83d"}`
    const { status, text } = await send(port, path, [...OWN, lengthOf(half)], half)
    expect([status, text]).toEqual([400, expect.stringContaining('half of a surrogate pair')])
  })

  it('is refused without a token before its body is read', async () => {
    const { port } = (await serve())[endpoint]
    // The body never comes.
    expect(await send(port, path, ['Content-Length: 1000000'], '{')).toMatchObject({ status: 401 })
    expect(await send(port, path, ['Transfer-Encoding: chunked'], 'f4240\r\n{')).toMatchObject({ status: 401 })
  })
})
