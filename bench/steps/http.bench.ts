/**
 * `tools/call` at both endpoints in the session-based and the stateless protocol version, compared with a bare
 * `node:http` JSON echo and with the SDKs' own servers: 32 connections, 100 and 5,000 sessions, zod in and out, a
 * process each. Ratios are of the CPU time that a call takes the server.
 *
 *   --quick    fewer rounds, and without the SDKs' servers, as in CI
 *   --record   writes the ratios to bench/recorded-ratios.json that are better than those there
 */
import { META, type OpenResult } from '@episodic/protocol'
import { ENVELOPE, MODERN_VERSION } from '@episodic/protocol/internal'
import { type Child, startChild } from '../child.ts'
import { inTurn, median, ratio } from '../figures.ts'
import { drive, type Load } from '../http-load.ts'
import { readOptions } from '../options.ts'
import { reachesRecorded, reportRatios } from '../recorded-ratios.ts'
import { addBody, authorize, type Endpoint, openSession } from '../trainer-endpoint.ts'

const { quick, record } = readOptions({
  quick: { type: 'boolean', default: false },
  record: { type: 'boolean', default: false },
})
const CONNECTIONS = 32
const [FEW, MANY] = [100, 5_000]
/** Many short rounds: other load on the machine then affects everything that is measured in a round. */
const ROUNDS = quick ? 7 : 15
const CALLS = 3_000
/** Rounds until all is compiled: the echo is at its speed after some 20,000 calls. */
const WARM_UP = 7
/** The SDKs' servers take several times as long for each call, and the first keeps memory for every call. */
const SDK_CALLS = 900

const ACCEPT = { Accept: 'application/json, text/event-stream' }
const MODERN_HEADERS = { 'MCP-Protocol-Version': MODERN_VERSION, 'Mcp-Method': 'tools/call', 'Mcp-Name': 'add' }
const MODERN_META = {
  [ENVELOPE.version]: MODERN_VERSION,
  [ENVELOPE.capabilities]: {},
  [ENVELOPE.client]: { name: 'bench', version: '1.0.0' },
}

let calls = 0
/** Returns the body of the next call, with `_meta` and more arguments. */
function add(meta: object, more: object = {}): string {
  return addBody(calls++, meta, more)
}

/** Calls `act` so many times, with as many in flight as there are connections, and resolves with the results. */
async function times<T>(count: number, act: (i: number) => Promise<T>): Promise<T[]> {
  const results: T[] = []
  let next = 0
  const lane = async () => {
    for (let i = next++; i < count; i = next++) results[i] = await act(i)
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, lane))
  return results
}

type Server = Child<Pick<Endpoint, 'port'>>
type Measure = (name: string) => Promise<number>
/** Calls a second by the clock, of each measurement in every round. */
const byClock: Record<string, number[]> = {}
/** Measures calls for a second of the server's CPU. */
const measure = (server: Server, load: Omit<Load, 'connections' | 'port'>): Measure => {
  const { port } = server.ready
  return async (name) => {
    const before = await server.ask<{ seconds: number }>('cpu')
    const rate = await drive({ ...load, port, connections: CONNECTIONS })
    const { seconds } = await server.ask<{ seconds: number }>('cpu')
    byClock[name] = [...(byClock[name] ?? []), rate]
    return load.calls / (seconds - before.seconds)
  }
}

/** Opens so many sessions at our server, and returns a measurement for each endpoint and protocol version. */
async function prepareOurs(server: Child<Endpoint>, count: number): Promise<Record<string, Measure>> {
  const authorization = authorize(server.ready)
  const sessions = await times(count, (i) => openSession(server.ready, 'counter', `http-benchmark-${i}`))
  const next = () => sessions[calls % count] as OpenResult
  const trainer = { path: () => '/env', calls: CALLS }
  const agent = { path: () => `/mcp/s/${next().seats.agent?.capability}`, calls: CALLS }
  return {
    trainer: measure(server, {
      ...trainer,
      headers: authorization,
      body: () => add({ [META.session]: next().session }),
    }),
    'trainer 2026': measure(server, {
      ...trainer,
      headers: { ...authorization, ...MODERN_HEADERS },
      body: () => add({ ...MODERN_META, [META.session]: next().session }),
    }),
    agent: measure(server, { ...agent, headers: ACCEPT, body: () => add({}) }),
    'agent 2026': measure(server, {
      ...agent,
      headers: { ...ACCEPT, ...MODERN_HEADERS },
      body: () => add(MODERN_META),
    }),
  }
}

/** Opens so many transport sessions at the first SDK's server. */
async function prepareFirst(server: Server, count: number): Promise<Measure> {
  const url = `http://127.0.0.1:${server.ready.port}/mcp`
  const ids = await times(count, async () => {
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1.0.0' } }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params })
    const headers = { ...ACCEPT, 'content-type': 'application/json' }
    const answer = await fetch(url, { method: 'POST', body, headers })
    await answer.text()
    return answer.headers.get('mcp-session-id') as string
  })
  const headers = () => ({ ...ACCEPT, 'Mcp-Session-Id': ids[calls % count] as string })
  return measure(server, { path: () => '/mcp', headers, body: () => add({}), calls: SDK_CALLS })
}

/** Measures the second SDK's server, which keeps no sessions: the calls name their counts. */
function prepareSecond(server: Server, count: number): Measure {
  const headers = { ...ACCEPT, ...MODERN_HEADERS }
  const body = () => add(MODERN_META, { counter: `count-${calls % count}` })
  return measure(server, { path: () => '/mcp', headers, body, calls: SDK_CALLS })
}

using echo = await startChild<Pick<Endpoint, 'port'>>('servers/echo-server.ts')
using few = await startChild<Endpoint>('servers/counter-server.ts')
using many = await startChild<Endpoint>('servers/counter-server.ts')
using sdks = new DisposableStack()

const ours = { [FEW]: await prepareOurs(few, FEW), [MANY]: await prepareOurs(many, MANY) }
const named = Object.entries(ours).flatMap(([count, measures]) =>
  Object.entries(measures).map(([endpoint, run]) => [`${endpoint}, ${count}`, run] as const),
)
const measures: Record<string, Measure> = {
  echo: measure(echo, {
    path: () => '/',
    headers: {},
    body: () => add({ [META.session]: 'a control handle of as many bytes as they have' }),
    calls: CALLS,
  }),
  ...Object.fromEntries(named),
  ...(!quick && (await prepareSdks())),
}

async function prepareSdks(): Promise<Record<string, Measure>> {
  const start = async (sdk: string) => sdks.use(await startChild<{ port: number }>('servers/sdk-server.ts', sdk))
  return {
    [`first SDK, ${FEW}`]: await prepareFirst(await start('first'), FEW),
    [`first SDK, ${MANY}`]: await prepareFirst(await start('first'), MANY),
    [`second SDK, ${FEW}`]: prepareSecond(await start('second'), FEW),
  }
}

type Rates = Readonly<Record<string, readonly number[]>>
const figures = (rates: Rates) => {
  const { echo: floor = [] } = rates
  return Object.fromEntries(named.map(([name]) => [name, { of: rates[name] ?? [], floor }]))
}
const rates: Rates = await inTurn(
  ROUNDS,
  Object.fromEntries(Object.entries(measures).map(([name, run]) => [name, () => run(name)])),
  { warmUp: WARM_UP, isEnough: (rates) => reachesRecorded('http', figures(rates)) },
)
const of = (name: string) => rates[name] as number[]
reportRatios('http', figures(rates), {
  record,
  callsPerSecond: Object.fromEntries(
    Object.entries(byClock).map(([name, rounds]) => [name, Math.round(median(rounds.slice(WARM_UP)))]),
  ),
  // At the agent endpoint, in the protocol version that each SDK is for.
  ...(!quick && {
    toSdk: {
      [`first, ${FEW}`]: ratio(of(`agent, ${FEW}`), of(`first SDK, ${FEW}`)),
      [`first, ${MANY}`]: ratio(of(`agent, ${MANY}`), of(`first SDK, ${MANY}`)),
      [`second, ${FEW}`]: ratio(of(`agent 2026, ${FEW}`), of(`second SDK, ${FEW}`)),
    },
  }),
})
