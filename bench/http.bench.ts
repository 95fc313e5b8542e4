/** `tools/call` at both doors beside a bare `node:http` JSON echo: 100 sessions, 32 connections, a process each. */
import { META, METHODS, type OpenResult } from '@episodic/protocol'
import { startChild } from './child.ts'
import { inTurn, median, ratio, report } from './figures.ts'
import { drive } from './http-load.ts'

const SESSIONS = 100
const CONNECTIONS = 32
const CALLS = 20_000
const FLOOR = 0.4

using echo = await startChild<{ port: number }>('./echo-server.ts')
using server = await startChild<{ port: number; trustedUrl: string; token: string }>('./counter-server.ts')
const { port, trustedUrl, token } = server.ready
const authorization = `Bearer ${token}`

const sessions: OpenResult[] = []
for (let i = 0; i < SESSIONS; i++) {
  const params = { environment: 'counter', requestKey: `http-benchmark-${i}` }
  const body = JSON.stringify({ jsonrpc: '2.0', id: i, method: METHODS.open, params })
  const answer = await fetch(trustedUrl, {
    method: 'POST',
    body,
    headers: { authorization, 'content-type': 'application/json' },
  })
  sessions.push(((await answer.json()) as { result: OpenResult }).result)
}

let calls = 0
const call = (meta: object) => {
  const params = { name: 'add', arguments: { note: 'a short note', n: calls % 7 }, ...meta }
  return JSON.stringify({ jsonrpc: '2.0', id: calls++, method: 'tools/call', params })
}
const next = () => sessions[calls % SESSIONS] as OpenResult
const trusted = () => call({ _meta: { [META.session]: next().session } })

const rates = await inTurn(5, {
  echo: () =>
    drive({
      port: echo.ready.port,
      path: () => '/',
      headers: {},
      body: trusted,
      connections: CONNECTIONS,
      calls: CALLS,
    }),
  trusted: () =>
    drive({
      port,
      path: () => '/env',
      headers: { Authorization: authorization },
      body: trusted,
      connections: CONNECTIONS,
      calls: CALLS,
    }),
  agent: () =>
    drive({
      port,
      path: () => `/mcp/s/${next().seats.agent?.capability}`,
      headers: {},
      body: () => call({}),
      connections: CONNECTIONS,
      calls: CALLS,
    }),
})
const toEcho = { trusted: ratio(rates.trusted, rates.echo), agent: ratio(rates.agent, rates.echo) }
report('http', {
  ok: toEcho.trusted >= FLOOR && toEcho.agent >= FLOOR,
  callsPerSecond: Math.round(median(rates.trusted)),
  agentCallsPerSecond: Math.round(median(rates.agent)),
  echoPerSecond: Math.round(median(rates.echo)),
  ratio: toEcho.trusted,
  agentRatio: toEcho.agent,
})
