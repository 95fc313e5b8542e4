/**
 * What a gateway costs between an agent and its engine: `episodic gateway`, which writes each answer to a disk before
 * the agent gets it, OpenEnv's capture server, which keeps them in memory, and rllm-model-gateway, which writes them to
 * SQLite afterwards, all before the same engine. Conversations of ten turns in the API of chat completions, of 4,000
 * tokens to begin with and 64 tokens an answer, are played at the engine itself and through each gateway, call by call
 * in turn, so that all of them see the same machine.
 *
 * Holds if the 99th percentile of a call through ours is at most 2 ms above that of the engine itself, and if ours
 * takes at most a fifth of the CPU a call of one of the others.
 *
 *   pnpm bench gateway
 *
 * Makes two Python environments of `pnpm interop`, of 450 MB together.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'undici'
import { startGateway } from '../../interop/gateway/start-gateway.ts'
import { startChild } from '../child.ts'
import { median, report, round2 } from '../figures.ts'
import { needProc, needPython } from '../needs.ts'
import { readCpu } from '../process-tree.ts'
import { startPython } from './start-server.ts'

const ROUNDS = 3
/** Rounds that are not counted: a gateway runs for days, and its code is compiled in its first thousands of calls. */
const WARM_UP = 6
const CONVERSATIONS = 20
const TURNS = 9
const TOKENS = 64
const LETTERS = 4_000
/** Milliseconds, and the share of the CPU of another gateway. */
const MOST_ADDED = 2
const MOST_CPU = 0.2

/** A way to the engine. */
interface Way {
  /** Opens a session. Resolves with its key. */
  open(id: string): Promise<string>
  /** Where a session asks, if its key does not say it. */
  root?(key: string): string
  readonly client: Client
  /** The process between; `null` for none. */
  readonly pid: number | null
}

interface Message {
  readonly role: string
  readonly content: string | null
  readonly tool_calls?: readonly { readonly id: string }[]
  readonly tool_call_id?: string
}

needProc()
const python = needPython('openenv.txt')
const pythonOfRllm = needPython('rllm-model-gateway.txt')
const folder = mkdtempSync(join(tmpdir(), 'episodic-bench-'))
using engine = await startChild<{ url: string }>('servers/token-engine-server.ts', String(TURNS), String(TOKENS))
const { url } = engine.ready
await using ours = await startGateway(folder, url)
await using openEnv = await startPython(python, (port) => [
  ...['-m', 'openenv.core.harness.capture.server', '--llm-url', url, '--model', 'engine', '--engine', 'vllm'],
  ...['--capture-level', 'tokens', '--port', port],
])
// Without a line of log for each call.
await using rllm = await startPython(pythonOfRllm, (port) => [
  ...['-m', 'rllm_model_gateway', '--worker', url, '--host', '127.0.0.1', '--port', port],
  ...['--store', 'sqlite', '--db-path', join(folder, 'rllm.db'), '--log-level', 'warning'],
])

/** Opens sessions of a peer by the name that they are given. */
function openAt(port: number): Way['open'] {
  return async (session_id) => {
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ session_id })
    await fetch(`http://127.0.0.1:${port}/sessions`, { method: 'POST', headers, body })
    return session_id
  }
}

const clientOf = (port: number) => new Client(`http://127.0.0.1:${port}`)
const ways = {
  engine: { open: async () => 'none', client: new Client(new URL(url).origin), pid: null },
  ours: { open: ours.open, client: new Client(ours.url), pid: ours.process.pid as number },
  OpenEnv: { open: openAt(openEnv.port), client: clientOf(openEnv.port), pid: openEnv.pid },
  rllm: {
    open: openAt(rllm.port),
    root: (key) => `/sessions/${key}/v1`,
    client: clientOf(rllm.port),
    pid: rllm.pid,
  },
} satisfies Record<string, Way>
type Name = keyof typeof ways
const names = Object.keys(ways) as Name[]

/** Asks for one answer. Resolves with its message and the milliseconds that it took. */
async function ask({ client, root }: Way, key: string, messages: readonly Message[]) {
  const tools = [{ type: 'function', function: { name: 'guess', parameters: { type: 'object', properties: {} } } }]
  const body = JSON.stringify({ model: 'engine', messages, tools })
  const began = performance.now()
  const answer = await client.request({
    path: `${root?.(key) ?? '/v1'}/chat/completions`,
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body,
  })
  const text = await answer.body.text()
  const milliseconds = performance.now() - began
  if (answer.statusCode !== 200) throw new Error(`${answer.statusCode}: ${text.slice(0, 300)}`)
  const { choices } = JSON.parse(text) as { choices: [{ message: Message }] }
  return { message: choices[0].message, milliseconds }
}

/** Plays conversations by each way, call by call in turn. Resolves with the times of the calls. */
async function play(round: number): Promise<Record<Name, number[]>> {
  const times: Record<Name, number[]> = { engine: [], ours: [], OpenEnv: [], rllm: [] }
  for (let number = 0; number < CONVERSATIONS; number++) {
    const opened = await Promise.all(
      names.map(async (name) => {
        const key = await ways[name].open(`round-${round}-${number}`)
        const messages: Message[] = [
          { role: 'system', content: 'x'.repeat(LETTERS) },
          { role: 'user', content: `Number ${round} ${number}.` },
        ]
        return { name, key, messages }
      }),
    )
    for (let turn = 0; turn <= TURNS; turn++)
      for (const { name, key, messages } of opened) {
        const { message, milliseconds } = await ask(ways[name], key, messages)
        times[name].push(milliseconds)
        const { content, tool_calls: calls = [] } = message
        messages.push({ role: 'assistant', content, ...(calls.length > 0 && { tool_calls: calls }) })
        for (const { id } of calls) messages.push({ role: 'tool', tool_call_id: id, content: 'It is higher.' })
      }
  }
  return times
}

function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] as number
}

/** What gateways cost, each in every round. */
const gateways = ['ours', 'OpenEnv', 'rllm'] as const
interface Cost {
  readonly p50: number
  readonly p99: number
  /** Microseconds of CPU a call. */
  readonly cpu: number
}
const costs: Record<(typeof gateways)[number], Cost>[] = []
for (let round = 1 - WARM_UP; round <= ROUNDS; round++) {
  const before = gateways.map((name) => readCpu(ways[name].pid))
  const times = await play(round)
  const above = (name: Name, share: number) => percentile(times[name], share) - percentile(times.engine, share)
  const all = gateways.map((name, i) => {
    const cpu = ((readCpu(ways[name].pid) - (before[i] as number)) * 1e6) / times[name].length
    return [name, { p50: above(name, 0.5), p99: above(name, 0.99), cpu }] as const
  })
  const said = all.map(
    ([name, { p50, p99, cpu }]) => `${name} +${round2(p50)} ms, p99 +${round2(p99)} ms, ${Math.round(cpu)} µs CPU`,
  )
  console.error(`  ${round <= 0 ? 'warm-up' : `round ${round}`}  ${said.join('   ')}`)
  if (round > 0) costs.push(Object.fromEntries(all) as (typeof costs)[number])
}
for (const { client } of Object.values(ways)) await client.close()
rmSync(folder, { recursive: true, force: true })

const of = (name: (typeof gateways)[number], part: keyof Cost) => median(costs.map((round) => round[name][part]))
const shareOf = (name: (typeof gateways)[number]) => median(costs.map((round) => round.ours.cpu / round[name].cpu))
const addedP99 = of('ours', 'p99')
report('gateway', {
  ok: addedP99 <= MOST_ADDED && Math.min(shareOf('OpenEnv'), shareOf('rllm')) <= MOST_CPU,
  calls: ROUNDS * CONVERSATIONS * (TURNS + 1),
  addedMedianMs: round2(of('ours', 'p50')),
  addedP99Ms: round2(addedP99),
  openEnvAddedP99Ms: round2(of('OpenEnv', 'p99')),
  rllmAddedP99Ms: round2(of('rllm', 'p99')),
  cpuMicroseconds: Math.round(of('ours', 'cpu')),
  openEnvCpuMicroseconds: Math.round(of('OpenEnv', 'cpu')),
  rllmCpuMicroseconds: Math.round(of('rllm', 'cpu')),
  cpuOfOpenEnv: round2(shareOf('OpenEnv')),
  cpuOfRllm: round2(shareOf('rllm')),
})
