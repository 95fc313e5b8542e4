/** `Environment.step` over every transport: 256 sessions at once, with the server in another process if it can be. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Connection, connect } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import { startChild } from './child.ts'
import { inTurn, median, ratio, report } from './figures.ts'
import { counter } from './servers/counter-world.ts'

const SESSIONS = 256
const STEPS = 20_000
/** The least speed of WebSocket and Unix socket, relative to our own HTTP client. */
const FLOOR = 2

const folder = mkdtempSync(join(tmpdir(), 'episodic-transports-'))
process.on('exit', () => rmSync(folder, { recursive: true }))
await using host = createHost({ environments: [counter] })
using server = await startChild<{ trainerUrl: string; token: string; socketUrl: string }>(
  './servers/counter-server.ts',
  'memory',
  join(folder, 'counter.sock'),
)
const { trainerUrl, token, socketUrl } = server.ready
const stdio = {
  command: process.execPath,
  args: [fileURLToPath(new URL('./servers/counter-stdio.ts', import.meta.url))],
}

/** Plays a share of the steps in each session, all at once, and resolves with the steps a second. */
async function play(connection: Connection): Promise<number> {
  const environments = Array.from({ length: SESSIONS }, () => connection.environment())
  await Promise.all(environments.map((environment) => environment.reset({ limits: { steps: 1_000_000 } })))
  const steps = Math.ceil(STEPS / SESSIONS)
  const began = performance.now()
  await Promise.all(
    environments.map(async (environment) => {
      for (let n = 0; n < steps; n++)
        await environment.step({ tool: 'add', arguments: { note: 'a short note', n: n % 7 } })
    }),
  )
  const seconds = (performance.now() - began) / 1_000
  await Promise.all(environments.map((environment) => environment.close()))
  return (steps * SESSIONS) / seconds
}

await using sameProcess = await connect(inProcess(host))
await using unixSocket = await connect(socketUrl)
await using webSocket = await connect({ url: trainerUrl.replace(/^http/, 'ws'), token })
await using http = await connect({ url: trainerUrl, token })
await using pipe = await connect(stdio)

const rates = await inTurn(5, {
  'in process': () => play(sameProcess),
  'Unix socket': () => play(unixSocket),
  WebSocket: () => play(webSocket),
  HTTP: () => play(http),
  stdio: () => play(pipe),
})
const toHttp = {
  inProcess: ratio(rates['in process'], rates.HTTP),
  unixSocket: ratio(rates['Unix socket'], rates.HTTP),
  webSocket: ratio(rates.WebSocket, rates.HTTP),
  stdio: ratio(rates.stdio, rates.HTTP),
}
report('transports', {
  ok: toHttp.unixSocket >= FLOOR && toHttp.webSocket >= FLOOR,
  sessions: SESSIONS,
  stepsPerSecond: {
    inProcess: Math.round(median(rates['in process'])),
    unixSocket: Math.round(median(rates['Unix socket'])),
    webSocket: Math.round(median(rates.WebSocket)),
    http: Math.round(median(rates.HTTP)),
    stdio: Math.round(median(rates.stdio)),
  },
  toHttp,
})
