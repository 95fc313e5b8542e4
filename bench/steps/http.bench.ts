/**
 * `tools/call` at both endpoints in the session-based and the stateless protocol version, compared with a bare
 * `node:http` JSON echo and with the SDKs' own servers: 32 connections, 100 and 5,000 sessions, zod in and out, a
 * process each.
 */
import { META, type OpenResult } from '@episodic/protocol'
import { ENVELOPE, MODERN_VERSION } from '@episodic/protocol/internal'
import { startChild } from '../child.ts'
import { inTurn, median, ratio, report } from '../figures.ts'
import { drive, type Load } from '../http-load.ts'
import { addBody, authorize, type Endpoint, openSession } from '../trainer-endpoint.ts'

const CONNECTIONS = 32
const [FEW, MANY] = [100, 5_000]
/** Many short rounds: other load on the machine then affects everything that is measured in a round. */
const ROUNDS = 9
const CALLS = 5_000
/** The SDKs' servers take several times as long for each call, and the first keeps memory for every call. */
const SDK_CALLS = 1_500
const FLOOR = 0.5

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

type Measure = () => Promise<number>
const measure = (load: Omit<Load, 'connections'>): Measure => {
  return () => drive({ ...load, connections: CONNECTIONS })
}

/** Opens so many sessions at our server, and returns a measurement for each endpoint and protocol version. */
async function prepareOurs(endpoint: Endpoint, count: number): Promise<Record<string, Measure>> {
  const { port } = endpoint
  const authorization = authorize(endpoint)
  const sessions = await times(count, (i) => openSession(endpoint, 'counter', `http-benchmark-${i}`))
  const next = () => sessions[calls % count] as OpenResult
  const trainer = { port, path: () => '/env', calls: CALLS }
  const agent = { port, path: () => `/mcp/s/${next().seats.agent?.capability}`, calls: CALLS }
  return {
    trainer: measure({ ...trainer, headers: authorization, body: () => add({ [META.session]: next().session }) }),
    'trainer 2026': measure({
      ...trainer,
      headers: { ...authorization, ...MODERN_HEADERS },
      body: () => add({ ...MODERN_META, [META.session]: next().session }),
    }),
    agent: measure({ ...agent, headers: ACCEPT, body: () => add({}) }),
    'agent 2026': measure({ ...agent, headers: { ...ACCEPT, ...MODERN_HEADERS }, body: () => add(MODERN_META) }),
  }
}

/** Opens so many transport sessions at the first SDK's server. */
async function prepareFirst(port: number, count: number): Promise<Measure> {
  const url = `http://127.0.0.1:${port}/mcp`
  const ids = await times(count, async () => {
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1.0.0' } }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params })
    const headers = { ...ACCEPT, 'content-type': 'application/json' }
    const answer = await fetch(url, { method: 'POST', body, headers })
    await answer.text()
    return answer.headers.get('mcp-session-id') as string
  })
  const headers = () => ({ ...ACCEPT, 'Mcp-Session-Id': ids[calls % count] as string })
  return measure({ port, path: () => '/mcp', headers, body: () => add({}), calls: SDK_CALLS })
}

/** Measures the second SDK's server, which keeps no sessions: the calls name their counts. */
function prepareSecond(port: number, count: number): Measure {
  const headers = { ...ACCEPT, ...MODERN_HEADERS }
  const body = () => add(MODERN_META, { counter: `count-${calls % count}` })
  return measure({ port, path: () => '/mcp', headers, body, calls: SDK_CALLS })
}

using echo = await startChild<Pick<Endpoint, 'port'>>('servers/echo-server.ts')
using few = await startChild<Endpoint>('servers/counter-server.ts')
using many = await startChild<Endpoint>('servers/counter-server.ts')
using firstFew = await startChild<Pick<Endpoint, 'port'>>('servers/sdk-server.ts', 'first')
using firstMany = await startChild<Pick<Endpoint, 'port'>>('servers/sdk-server.ts', 'first')
using second = await startChild<Pick<Endpoint, 'port'>>('servers/sdk-server.ts', 'second')

const ours = { [FEW]: await prepareOurs(few.ready, FEW), [MANY]: await prepareOurs(many.ready, MANY) }
const named = Object.entries(ours).flatMap(([count, measures]) =>
  Object.entries(measures).map(([endpoint, run]) => [`${endpoint}, ${count}`, run] as const),
)
const rates = await inTurn<string>(ROUNDS, {
  echo: measure({
    port: echo.ready.port,
    path: () => '/',
    headers: {},
    body: () => add({ [META.session]: 'a control handle of as many bytes as they have' }),
    calls: CALLS,
  }),
  ...Object.fromEntries(named),
  [`first SDK, ${FEW}`]: await prepareFirst(firstFew.ready.port, FEW),
  [`first SDK, ${MANY}`]: await prepareFirst(firstMany.ready.port, MANY),
  [`second SDK, ${FEW}`]: prepareSecond(second.ready.port, FEW),
})

const of = (name: string) => rates[name] as number[]
const toEcho = Object.fromEntries(named.map(([name]) => [name, ratio(of(name), of('echo'))]))
report('http', {
  ok: Object.values(toEcho).every((share) => share >= FLOOR),
  callsPerSecond: Object.fromEntries(Object.keys(rates).map((name) => [name, Math.round(median(of(name)))])),
  toEcho,
  // At the agent endpoint, in the protocol version that each SDK is for.
  toSdk: {
    [`first, ${FEW}`]: ratio(of(`agent, ${FEW}`), of(`first SDK, ${FEW}`)),
    [`first, ${MANY}`]: ratio(of(`agent, ${MANY}`), of(`first SDK, ${MANY}`)),
    [`second, ${FEW}`]: ratio(of(`agent 2026, ${FEW}`), of(`second SDK, ${FEW}`)),
  },
})
