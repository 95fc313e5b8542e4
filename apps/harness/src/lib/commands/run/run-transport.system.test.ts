import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { StepParts } from '@episodic/report'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  exampleWorld,
  openWorkshop,
  readEpisodes,
  type Serving,
  type Workshop,
  withoutTimes,
} from '../../fixtures/episodic.fixture.ts'

const WORLD = exampleWorld('number-guessing')
const AGENT = fileURLToPath(new URL('../../worlds/agents/guessing-agent.fixture.ts', import.meta.url))

let workshop: Workshop
let server: Serving
let token: string
beforeAll(async () => {
  workshop = openWorkshop()
  server = await workshop.serve([WORLD])
  token = readFileSync(server.tokenFile, 'utf8').trim()
})
afterAll(() => workshop[Symbol.dispose]())

/** Plays 6 episodes. Returns them without their times, and how the run was connected to its world. */
async function play(out: string, options: readonly string[]) {
  const ended = await workshop.main(['run', WORLD, '--tasks', '6', '--out', out, '--json', ...options])
  const { status, err } = ended
  if (status !== 0) return { status, err, transport: null, stepParts: null, episodes: [] }
  const summary = JSON.parse(ended.out)
  expect(summary.counts).toMatchObject({ finished: 6, failed: 0 })
  const folder = join(workshop.folder, out)
  const { played } = JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8'))
  expect(played.transport).toBe(summary.transport)
  const { stepParts } = summary.time as { stepParts: StepParts | null }
  return {
    status,
    err,
    transport: summary.transport as string,
    stepParts,
    episodes: withoutTimes(readEpisodes(folder)),
  }
}

/** A proxy that passes requests to the server, and no WebSocket. Counts the requests that it passed. */
async function openProxy(to: string) {
  let passed = 0
  const proxy = createServer(async (request, response) => {
    const body = (await request.toArray()).join('')
    const { authorization = '', accept = '' } = request.headers
    const headers = { authorization, accept, 'content-type': 'application/json' }
    passed += 1
    const answer = await fetch(to, { method: 'POST', headers, body })
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
    response.end(await answer.text())
  })
  proxy.on('upgrade', (_, socket) => socket.end('HTTP/1.1 426 Upgrade Required\r\ncontent-length: 0\r\n\r\n'))
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const { port } = proxy.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/env`,
    passed: () => passed,
    async [Symbol.asyncDispose]() {
      proxy.closeAllConnections()
      await new Promise((resolve) => proxy.close(resolve))
    },
  }
}

describe('episodic run --transport', () => {
  it('plays the same episodes in process, over a WebSocket, a pipe and HTTP, and names the one used', async () => {
    const alone = await play('alone', [])
    expect([alone.transport, alone.stepParts]).toEqual(['in-process', null])
    for (const transport of ['websocket', 'stdio', 'http']) {
      const played = await play(transport, ['--transport', transport])
      expect([played.transport, played.episodes]).toEqual([transport, alone.episodes])
      // The server says of every 16th step how long it took.
      const { steps, server, wire, queue } = played.stepParts as StepParts
      const all = readEpisodes(join(workshop.folder, transport)).flatMap((episode) => episode.steps)
      expect(steps).toBe(Math.ceil(all.length / 16))
      expect(server).toBeGreaterThan(0)
      expect(wire).toBeGreaterThan(0)
      expect(queue).toBeGreaterThanOrEqual(0)
    }
    const { out } = await workshop.main(['report', 'websocket'])
    expect(out).toMatch(/^ {2} {2}in the server .* on the wire, .* waiting for the connection and the event loops$/m)
    expect(out).toMatch(/^websocket {2}number-guessing@.* · websocket$/m)
  })

  it('plays at a server over a WebSocket if it accepts one, and over HTTP if that is asked for', async () => {
    const at = ['--url', server.url, '--token', token]
    const chosen = await play('chosen', at)
    expect(chosen.transport).toBe('websocket, a server that was there')
    const asked = await play('asked', [...at, '--transport', 'http'])
    expect([asked.transport, asked.episodes]).toEqual(['http, a server that was there', chosen.episodes])
    const address = server.url.replace(/^http/, 'ws')
    const back = await play('back', ['--url', address, '--token', token, '--transport', 'http'])
    expect(back.transport).toBe('http, a server that was there')
  })

  it('plays over HTTP through a proxy that lets no WebSocket through', async () => {
    await using proxy = await openProxy(server.url)
    const { transport } = await play('proxied', ['--url', proxy.url, '--token', token])
    expect(transport).toBe('http, a server that was there')
    expect(proxy.passed()).toBeGreaterThan(12)
    const forced = await play('forced', ['--url', proxy.url, '--token', token, '--transport', 'websocket'])
    expect(forced.status).not.toBe(0)
    expect(forced.err).toContain('426')
  })

  it('refuses a transport that does not lead to a server at an address', async () => {
    const refused = await play('refused', ['--url', server.url, '--transport', 'stdio'])
    expect(refused.status).not.toBe(0)
    expect(refused.err).toContain('A server at an address is reached over websocket or http, not stdio.')
  })

  it('gives an agent its address over HTTP while the run uses a WebSocket', async () => {
    const own = await play('agent', ['--policy', `process:${process.execPath} ${AGENT}`])
    expect(own.transport).toBe('websocket')
    const there = await play('agent-there', [
      ...[
        '--policy',
        `process:${process.execPath} ${AGENT}`,
        '--url',
        server.url.replace(/^http/, 'ws'),
        '--token',
        token,
      ],
    ])
    expect(there.transport).toBe('websocket, a server that was there')
  })
})
