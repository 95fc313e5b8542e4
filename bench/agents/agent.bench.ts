/**
 * What a session of an agent costs: calls in one session beside the bare SDK client and beside a session for each call,
 * 100 agents at once, and 1,000 sessions opened and closed.
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import {
  type AgentSession,
  createAgent,
  createMcpSessions,
  type McpSessions,
  type Model,
  openAgentSession,
} from '@episodic/agent'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { startChild } from '../child.ts'
import { median, ratio, report, round2 } from '../figures.ts'
import { needProgram } from '../needs.ts'

/** Calls of a round, and the turns that they are divided into, after as many turns of warm-up. */
const [CALLS, PARTS] = [1_000, 10]
const ROUNDS = 15
const [SLOWER, FASTER] = [0.95, 20]
const [AGENTS, TURNS] = [100, 10]
const [CYCLES, ABREAST] = [1_000, 4]
/** Bytes that the heap may grow by for each session that was opened and closed. */
const GROWTH = 1_024

needProgram('pgrep')
const file = (name: string) => join(import.meta.dirname, '../servers', name)
const notes = { command: process.execPath, args: [file('notes-server.ts'), 'stdio'] }
const least = { command: process.execPath, args: [file('least-server.ts')] }
using far = await startChild<{ port: number }>('servers/notes-server.ts')
const remote = { url: `http://127.0.0.1:${far.ready.port}/mcp` }
const mcpServers = { notes, least, remote }

const calls = await compareCalls()
const crossTalk = await runAgents()
const cycles = { stdio: await openAndClose('least'), http: await openAndClose('remote') }

const perSecond = (name: keyof typeof calls) => Math.round(median(calls[name]))
const toBare = ratio(calls.session, calls.bare)
const toSessionACall = Math.round(median(calls.session) / median(calls.sessionACall))
const left = Object.values(cycles).map(({ children, sockets, listeners }) => children + sockets + listeners)
report('agent', {
  ok:
    toBare >= SLOWER &&
    toSessionACall >= FASTER &&
    crossTalk === 0 &&
    left.every((count) => count === 0) &&
    Object.values(cycles).every(({ bytesACycle }) => bytesACycle < GROWTH),
  callsPerSecond: perSecond('session'),
  barePerSecond: perSecond('bare'),
  sessionACallPerSecond: round2(median(calls.sessionACall)),
  toBare,
  toSessionACall,
  agents: AGENTS,
  crossTalk,
  cycles: CYCLES,
  left: cycles,
})

/** Measures calls a second in turn: in our session, with the SDK's own client, and with a new session for each call. */
async function compareCalls() {
  await using sessions = createMcpSessions({ mcpServers })
  const rates = { bare: [] as number[], session: [] as number[], sessionACall: [] as number[] }
  for (let round = 0; round < ROUNDS; round++) {
    const { bare, session } = await compareOnce(sessions, round % 2 === 0)
    rates.bare.push(...bare)
    rates.session.push(...session)
    const sessionACall = async () => {
      await using once = await sessions.open('notes')
      await once.callTool('list', {})
    }
    rates.sessionACall.push(await rateOf(2, sessionACall))
  }
  return rates
}

/**
 * Calls the same tool in two processes of the same server. Each round starts new processes, because the core that the
 * system assigns to a process matters more for its speed than our code.
 */
async function compareOnce(sessions: McpSessions, bareFirst: boolean) {
  await using session = await sessions.open('notes')
  const client = new Client({ name: 'bench', version: '1.0.0' })
  await client.connect(new StdioClientTransport(notes))
  const calls = {
    bare: () => client.callTool({ name: 'list', arguments: {} }),
    session: () => session.callTool('list', {}),
  }
  const rates = { bare: [] as number[], session: [] as number[] }
  // In short turns, so that a machine whose speed changes from one moment to the next slows both of a pair.
  for (let part = -PARTS; part < PARTS; part++) {
    const first = bareFirst === (part % 2 === 0)
    for (const name of first ? (['bare', 'session'] as const) : (['session', 'bare'] as const)) {
      const rate = await rateOf(CALLS / PARTS, calls[name])
      if (part >= 0) rates[name].push(rate)
    }
  }
  await client.close()
  return rates
}

async function rateOf(count: number, call: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  for (let i = 0; i < count; i++) await call()
  return count / ((performance.now() - began) / 1_000)
}

/** Runs many agents, each with its own session, and resolves with the number of notes of others that they saw. */
async function runAgents(): Promise<number> {
  await using sessions = createMcpSessions({ mcpServers: { remote } })
  const open = await Promise.all(Array.from({ length: AGENTS }, () => openAgentSession({ sessions })))
  const wrong = await Promise.all(open.map((session, agent) => countWrongNotes(session, `canary-${agent}.`)))
  await Promise.all(open.map((session) => session.close()))
  return wrong.reduce((sum, count) => sum + count, 0)
}

/** Lets an agent write its canary and read its notes in turn, and counts the notes that are missing or not its own. */
async function countWrongNotes(mcpSession: AgentSession, canary: string): Promise<number> {
  let [turn, wrong] = [0, 0]
  const model: Model = async ({ messages }) => {
    const last = messages.at(-1)
    if (last?.role === 'tool') {
      const seen = last.answer.text.split(' ')
      wrong += seen.filter((note) => note !== canary).length + Math.abs(seen.length - turn)
    }
    if (turn++ === TURNS) return { text: 'done' }
    const name = ['add', 'list']
    return { text: '', calls: name.map((tool, i) => ({ id: `${turn}-${i}`, name: tool, arguments: { note: canary } })) }
  }
  await createAgent({ model, mcpSession }).invoke('Keep notes.')
  return wrong
}

/** Opens and closes sessions, and resolves with the resources that are left. */
async function openAndClose(server: string) {
  const listening = () => process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0)
  const before = { listeners: listening(), children: childrenOf(process.pid), sockets: sockets() }
  const heaps: number[] = []
  {
    await using sessions = createMcpSessions({ mcpServers })
    // After the first part, everything that is allocated once exists.
    for (const part of [CYCLES / 2, CYCLES]) {
      let left = part
      const cycle = async () => {
        while (left-- > 0) {
          await using session = await sessions.open(server)
          await session.callTool(session.tools[0]!.name, { note: 'a note' })
        }
      }
      await Promise.all(Array.from({ length: ABREAST }, cycle))
      globalThis.gc?.()
      await new Promise((done) => setTimeout(done, 50))
      globalThis.gc?.()
      heaps.push(process.memoryUsage().heapUsed)
    }
  }
  // Idle sockets of `fetch` are kept for a few seconds.
  const deadline = performance.now() + 15_000
  while (sockets() > before.sockets && performance.now() < deadline) await new Promise((done) => setTimeout(done, 50))
  const [warm = 0, after = 0] = heaps
  return {
    children: childrenOf(process.pid) - before.children,
    sockets: Math.max(0, sockets() - before.sockets),
    listeners: listening() - before.listeners,
    bytesACycle: Math.round((after - warm) / CYCLES),
  }
}

function childrenOf(pid: number): number {
  // `pgrep` itself is a child of this process.
  const { stdout, pid: own } = spawnSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' })
  return stdout.split('\n').filter((line) => line !== '' && Number(line) !== own).length
}

function sockets(): number {
  return process.getActiveResourcesInfo().filter((name) => /^(TCPSocketWrap|PipeWrap|ProcessWrap)$/.test(name)).length
}
