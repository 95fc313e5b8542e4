/**
 * What a gateway costs between an agent and its engine: `episodic gateway`, which also writes each answer to a disk
 * before the agent gets it, and OpenEnv's capture server, before the same engine. Conversations of ten turns in the API
 * of chat completions, of 4,000 tokens to begin with and 64 tokens an answer, are played at the engine itself and
 * through each gateway, call by call in turn, so that all three see the same machine.
 *
 * Holds if the 99th percentile of a call through ours is at most 2 ms above that of the engine itself, and if ours
 * takes at most a fifth of the CPU of OpenEnv's a call.
 *
 *   pnpm bench gateway
 *
 * Makes a Python environment of `pnpm interop`, of 450 MB.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'undici'
import { startGateway } from '../interop/gateway/start-gateway.ts'
import { openPythonEnvironment } from '../interop/python-environment.ts'
import { startChild } from './child.ts'
import { median, report, round2 } from './figures.ts'
import { startPython } from './peers/start-server.ts'
import { readCpu } from './process-tree.ts'

const ROUNDS = 3
/** Rounds that are not counted: a gateway runs for days, and its code is compiled in its first thousands of calls. */
const WARM_UP = 6
const CONVERSATIONS = 20
const TURNS = 9
const TOKENS = 64
const LETTERS = 4_000
/** Milliseconds, and the share of OpenEnv's CPU. */
const MOST_ADDED = 2
const MOST_CPU = 0.2

/** A way to the engine. */
interface Way {
  /** Opens a session. Resolves with its key. */
  open(id: string): Promise<string>
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

const folder = mkdtempSync(join(tmpdir(), 'episodic-bench-'))
const { python } = openPythonEnvironment('openenv.txt', (text) => console.error(`  ${text}`))
using engine = await startChild<{ url: string }>('servers/token-engine-server.ts', String(TURNS), String(TOKENS))
const { url } = engine.ready
await using ours = await startGateway(folder, url)
await using theirs = await startPython(python, (port) => [
  ...['-m', 'openenv.core.harness.capture.server', '--llm-url', url, '--model', 'engine', '--engine', 'vllm'],
  ...['--capture-level', 'tokens', '--port', port],
])
const theirUrl = `http://127.0.0.1:${theirs.port}`
const ways = {
  engine: { open: async () => 'none', client: new Client(new URL(url).origin), pid: null },
  ours: { open: ours.open, client: new Client(ours.url), pid: ours.process.pid as number },
  OpenEnv: {
    async open(session_id) {
      const headers = { 'content-type': 'application/json' }
      await fetch(`${theirUrl}/sessions`, { method: 'POST', headers, body: JSON.stringify({ session_id }) })
      return session_id
    },
    client: new Client(theirUrl),
    pid: theirs.pid,
  },
} satisfies Record<string, Way>
type Name = keyof typeof ways
const names = Object.keys(ways) as Name[]

/** Asks for one answer. Resolves with its message and the milliseconds that it took. */
async function ask({ client }: Way, key: string, messages: readonly Message[]) {
  const tools = [{ type: 'function', function: { name: 'guess', parameters: { type: 'object', properties: {} } } }]
  const body = JSON.stringify({ model: 'engine', messages, tools })
  const began = performance.now()
  const answer = await client.request({
    path: '/v1/chat/completions',
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
  const times: Record<Name, number[]> = { engine: [], ours: [], OpenEnv: [] }
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

const added: { p50: number; p99: number; theirP99: number }[] = []
const cpu = { ours: [] as number[], OpenEnv: [] as number[] }
for (let round = 1 - WARM_UP; round <= ROUNDS; round++) {
  const before = { ours: readCpu(ways.ours.pid), OpenEnv: readCpu(ways.OpenEnv.pid) }
  const times = await play(round)
  const perCall = (name: 'ours' | 'OpenEnv') => ((readCpu(ways[name].pid) - before[name]) * 1e6) / times[name].length
  const above = (name: Name, share: number) => percentile(times[name], share) - percentile(times.engine, share)
  const figures = { p50: above('ours', 0.5), p99: above('ours', 0.99), theirP99: above('OpenEnv', 0.99) }
  const [own, their] = [perCall('ours'), perCall('OpenEnv')]
  console.error(
    `  ${round <= 0 ? 'warm-up' : `round ${round}`}  ours +${round2(figures.p50)} ms, p99 +${round2(figures.p99)} ms, ${Math.round(own)} µs CPU   OpenEnv p99 +${round2(figures.theirP99)} ms, ${Math.round(their)} µs CPU`,
  )
  if (round <= 0) continue
  added.push(figures)
  cpu.ours.push(own)
  cpu.OpenEnv.push(their)
}
for (const { client } of Object.values(ways)) await client.close()
rmSync(folder, { recursive: true, force: true })

const addedP99 = median(added.map(({ p99 }) => p99))
const share = median(cpu.ours.map((own, i) => own / (cpu.OpenEnv[i] as number)))
report('gateway', {
  ok: addedP99 <= MOST_ADDED && share <= MOST_CPU,
  calls: ROUNDS * CONVERSATIONS * (TURNS + 1),
  addedMedianMs: round2(median(added.map(({ p50 }) => p50))),
  addedP99Ms: round2(addedP99),
  openEnvAddedP99Ms: round2(median(added.map(({ theirP99 }) => theirP99))),
  cpuMicroseconds: Math.round(median(cpu.ours)),
  openEnvCpuMicroseconds: Math.round(median(cpu.OpenEnv)),
  cpuOfOpenEnv: round2(share),
})
