/**
 * `Environment.step` over HTTP beside a bare loop of undici's `request`, both with 32 calls in flight against a server
 * that costs little; and beside them the SDK clients as they come.
 */
import { connect } from '@episodic/env'
import { META } from '@episodic/protocol'
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { Agent, request } from 'undici'
import { startChild } from '../child.ts'
import { inTurn, median, ratio, report } from '../figures.ts'

const IN_FLIGHT = 32
const FLOOR = 0.4
const action = (n: number) => ({ tool: 'add', arguments: { note: 'a short note', n: n % 7 } })

using server = await startChild<{ port: number }>('servers/reply-server.ts')
const url = `http://127.0.0.1:${server.ready.port}/env`

/** Calls a second of as many callers as there are in flight, each of whom waits for the last answer. */
async function loop(calls: number, call: (caller: number, n: number) => Promise<unknown>): Promise<number> {
  const began = performance.now()
  let left = calls
  await Promise.all(
    Array.from({ length: IN_FLIGHT }, async (_, caller) => {
      while (left-- > 0) await call(caller, left)
    }),
  )
  return calls / ((performance.now() - began) / 1_000)
}

const agent = new Agent({ connections: 64, pipelining: 1 })
const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
let id = 0
const post = async (_: number, n: number) => {
  const { tool: name, arguments: args } = action(n)
  const params = { name, arguments: args, _meta: { [META.session]: 'floor', [META.seq]: n, [META.epoch]: 1 } }
  const body = JSON.stringify({ jsonrpc: '2.0', id: id++, method: 'tools/call', params })
  const answer = await request(url, { method: 'POST', headers, body, dispatcher: agent })
  return JSON.parse(await answer.body.text())
}

await using connection = await connect({ url })
const environments = await Promise.all(
  Array.from({ length: IN_FLIGHT }, async () => {
    const environment = connection.environment()
    await environment.reset({})
    return environment
  }),
)
const client = new Client({ name: 'bench', version: '1.0.0' })
await client.connect(new StreamableHTTPClientTransport(new URL(url)) as Parameters<Client['connect']>[0])
const modern = new ModernClient({ name: 'bench', version: '1.0.0' })
await modern.connect(new ModernTransport(new URL(url)))

const rates = await inTurn(5, {
  undici: () => loop(20_000, post),
  environment: () => loop(20_000, (caller, n) => (environments[caller] as (typeof environments)[0]).step(action(n))),
  sdk: () => loop(4_000, (_, n) => client.callTool({ name: 'add', arguments: action(n).arguments })),
  modernSdk: () => loop(4_000, (_, n) => modern.callTool({ name: 'add', arguments: action(n).arguments })),
})
await client.close()
await modern.close()
await agent.close()
const perSecond = (name: keyof typeof rates) => Math.round(median(rates[name]))
report('client', {
  ok: ratio(rates.environment, rates.undici) >= FLOOR,
  stepsPerSecond: perSecond('environment'),
  undiciPerSecond: perSecond('undici'),
  sdkPerSecond: perSecond('sdk'),
  modernSdkPerSecond: perSecond('modernSdk'),
  ratio: ratio(rates.environment, rates.undici),
  toSdk: ratio(rates.environment, rates.sdk),
})
