/** `Environment.step` over every transport: 256 sessions at once, with the server in another process if it can be. */
import { fileURLToPath } from 'node:url'
import { type Connection, connect } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import { startChild } from '../child.ts'
import { inTurn, median, ratio, report } from '../figures.ts'
import { counter } from '../servers/counter-world.ts'

const SESSIONS = 256
const STEPS = 20_000
/** The least speed of WebSocket, relative to our own HTTP client. */
const FLOOR = 2

await using host = createHost({ environments: [counter] })
using server = await startChild<{ trainerUrl: string; token: string }>('servers/counter-server.ts')
const { trainerUrl, token } = server.ready
const stdio = {
  command: process.execPath,
  args: [fileURLToPath(new URL('../servers/counter-stdio.ts', import.meta.url))],
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
await using webSocket = await connect({ url: trainerUrl.replace(/^http/, 'ws'), token })
await using http = await connect({ url: trainerUrl, token })
await using pipe = await connect(stdio)

const rates = await inTurn(5, {
  'in process': () => play(sameProcess),
  WebSocket: () => play(webSocket),
  HTTP: () => play(http),
  stdio: () => play(pipe),
})
const toHttp = {
  inProcess: ratio(rates['in process'], rates.HTTP),
  webSocket: ratio(rates.WebSocket, rates.HTTP),
  stdio: ratio(rates.stdio, rates.HTTP),
}
report('transports', {
  ok: toHttp.webSocket >= FLOOR,
  sessions: SESSIONS,
  stepsPerSecond: {
    inProcess: Math.round(median(rates['in process'])),
    webSocket: Math.round(median(rates.WebSocket)),
    http: Math.round(median(rates.HTTP)),
    stdio: Math.round(median(rates.stdio)),
  },
  toHttp,
})
