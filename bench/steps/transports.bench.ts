/**
 * `Environment.step` over every transport, 256 sessions at once, with the server in another process if it can be. The
 * floor of each is a bare client and a bare echo over the same transport, and in process the bare rules: ratios are of
 * the CPU time of a step, of the client and the server together.
 *
 *   --quick    fewer rounds, as in CI
 *   --record   writes the ratios to bench/recorded-ratios.json that are better than those there
 */
import { fileURLToPath } from 'node:url'
import { type Connection, connect } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import { META } from '@episodic/protocol'
import { startChild } from '../child.ts'
import { inTurn, median, ratio } from '../figures.ts'
import { needProc } from '../needs.ts'
import { readOptions } from '../options.ts'
import { readCpu } from '../process-tree.ts'
import { reachesRecorded, reportRatios } from '../recorded-ratios.ts'
import { counter } from '../servers/counter-world.ts'
import type { Endpoint } from '../trainer-endpoint.ts'
import { startBareEpisode } from './bare-rules.ts'
import { connectHttpEcho, connectWebSocketEcho, type EchoClient, startStdioEcho } from './echo-client.ts'

const { quick, record } = readOptions({
  quick: { type: 'boolean', default: false },
  record: { type: 'boolean', default: false },
})
needProc()
const ROUNDS = quick ? 5 : 15
const WARM_UP = 3
const SESSIONS = 256
/** Of a measurement: each takes about as long, some forty ticks of the clock that counts CPU time. */
const STEPS = {
  'in process': 16_000,
  'bare in process': 200_000,
  WebSocket: 12_000,
  'bare WebSocket': 30_000,
  HTTP: 5_000,
  'bare HTTP': 8_000,
  stdio: 12_000,
  'bare stdio': 60_000,
} as const
type Name = keyof typeof STEPS

await using host = createHost({ environments: [counter] })
using server = await startChild<Endpoint>('servers/counter-server.ts')
using echo = await startChild<{ port: number }>('servers/echo-server.ts')
const { trainerUrl, token } = server.ready
const stdio = {
  command: process.execPath,
  args: [fileURLToPath(new URL('../servers/counter-stdio.ts', import.meta.url))],
}

/** Steps a second by the clock, of each measurement in every round. */
const byClock: Partial<Record<Name, number[]>> = {}

/** Takes a share of the steps in each session, all at once. Resolves with steps a second of CPU of all processes. */
async function measure(name: Name, step: (session: number, n: number) => unknown): Promise<number> {
  globalThis.gc?.()
  const share = Math.ceil(STEPS[name] / SESSIONS)
  const [began, before] = [performance.now(), readCpu(process.pid)]
  await Promise.all(
    Array.from({ length: SESSIONS }, async (_, session) => {
      for (let n = 0; n < share; n++) await step(session, n)
    }),
  )
  const seconds = readCpu(process.pid) - before
  byClock[name] = [...(byClock[name] ?? []), (share * SESSIONS * 1_000) / (performance.now() - began)]
  return (share * SESSIONS) / seconds
}

const argumentsOf = (n: number) => ({ note: 'a short note', n: n % 7 })

function play(connection: Connection) {
  return async (name: Name) => {
    const environments = Array.from({ length: SESSIONS }, () => connection.environment())
    await Promise.all(environments.map((environment) => environment.reset({ limits: { steps: 1_000_000 } })))
    const rate = await measure(name, (session, n) =>
      environments[session]?.step({ tool: 'add', arguments: argumentsOf(n) }),
    )
    await Promise.all(environments.map((environment) => environment.close()))
    return rate
  }
}

function playEcho(client: EchoClient) {
  const _meta = { [META.session]: 'a control handle of as many bytes as they have', [META.seq]: 1 }
  return (name: Name) =>
    measure(name, (_, n) => {
      const params = { name: 'add', arguments: argumentsOf(n), _meta }
      return client.call({ jsonrpc: '2.0', id: n, method: 'tools/call', params })
    })
}

function playBare(name: Name) {
  const episodes = Array.from({ length: SESSIONS }, (_, session) => startBareEpisode(counter, `${session}`))
  return measure(name, (session, n) => episodes[session]?.('add', argumentsOf(n)))
}

await using sameProcess = await connect(inProcess(host))
await using webSocket = await connect({ url: trainerUrl.replace(/^http/, 'ws'), token })
await using http = await connect({ url: trainerUrl, token })
await using pipe = await connect(stdio)
await using webSocketEcho = await connectWebSocketEcho(echo.ready.port)
await using httpEcho = connectHttpEcho(echo.ready.port)
await using pipeEcho = startStdioEcho()

const OURS = { 'in process': play(sameProcess), WebSocket: play(webSocket), HTTP: play(http), stdio: play(pipe) }
const FLOORS = {
  'in process': playBare,
  WebSocket: playEcho(webSocketEcho),
  HTTP: playEcho(httpEcho),
  stdio: playEcho(pipeEcho),
}
type Transport = keyof typeof OURS
const TRANSPORTS = Object.keys(OURS) as Transport[]
type Rates = Readonly<Record<string, readonly number[]>>
const figures = (rates: Rates) =>
  Object.fromEntries(TRANSPORTS.map((name) => [name, { of: rates[name] ?? [], floor: rates[`bare ${name}`] ?? [] }]))
const rates: Rates = await inTurn(
  ROUNDS,
  Object.fromEntries(
    TRANSPORTS.flatMap((name) => [
      [name, () => OURS[name](name)],
      [`bare ${name}`, () => FLOORS[name](`bare ${name}`)],
    ]),
  ),
  { warmUp: WARM_UP, isEnough: (rates) => reachesRecorded('transports', figures(rates)) },
)
const clockOf = (name: Name) => byClock[name]?.slice(WARM_UP) as number[]
reportRatios('transports', figures(rates), {
  record,
  sessions: SESSIONS,
  stepsPerSecond: Object.fromEntries(TRANSPORTS.map((name) => [name, Math.round(median(clockOf(name)))])),
  toHttp: Object.fromEntries(TRANSPORTS.map((name) => [name, ratio(clockOf(name), clockOf('HTTP'))])),
})
