/**
 * 50 agents keep a session each with one server that is killed with `kill -9` while they work, and comes back without
 * any of them. Every agent ends with a result or with a typed error, in time, and none mistakes a fresh session for its
 * own.
 */
import { setTimeout as pause } from 'node:timers/promises'
import {
  AgentError,
  createAgent,
  createMcpSessions,
  type McpSessions,
  type Model,
  openAgentSession,
  type Recovery,
} from '@episodic/agent'
import type { Rng } from '@episodic/protocol'
import { type Server, startServer } from '../processes/server.ts'
import { runTrial } from '../trial.ts'
import { until } from '../until.ts'

const AGENTS = 50
/** Seconds after which the last agent has to have ended, and calls that each of them makes. */
const [SECONDS, CALLS] = [60, 20]
/** Milliseconds that a model thinks at most: a kill hits agents in a call, and agents between two. */
const THINKING = 400

/** How an agent ended. */
type End =
  | { readonly kind: 'result'; readonly total: number }
  | { readonly kind: 'error'; readonly error: unknown }
  | { readonly kind: 'late' }

/** The progress of one agent, by the answers that it received. */
interface Work {
  /** Entries whose answer came, in the session that is its own by now. */
  confirmed: number
  recovered: number
  readonly breaches: string[]
}

await runTrial('agents', { kills: '3' }, async ({ rng, quick, options, folder, stack }) => {
  const kills = quick ? 1 : Number(options.kills)
  const server = stack.use(await startServer({ folder, args: ['--store', 'memory'] }))
  const works: Work[] = Array.from({ length: AGENTS }, () => ({ confirmed: 0, recovered: 0, breaches: [] }))
  const ends = works.map((work, index) => runAgent(server, work, rng.stream(`agent-${index}`), index % 2 === 0))
  const faults = rng.stream('kills')
  for (let kill = 1; kill <= kills; kill++) {
    const due = (kill * CALLS * AGENTS) / (2 * (kills + 1)) + faults.int(0, CALLS)
    const done = () => works.reduce((sum, { confirmed }) => sum + confirmed, 0) >= due
    let over = false
    void Promise.all(ends).then(() => {
      over = true
    })
    await until(() => over || done(), 'the agents are in the middle of their work')
    await server.restart()
  }
  const ended = await Promise.all(ends)

  const breaches = works.flatMap((work) => work.breaches)
  const codes: Record<string, number> = {}
  let results = 0
  ended.forEach((end, index) => {
    if (end.kind === 'late') breaches.push(`Agent ${index} had not ended after ${SECONDS} s.`)
    else if (end.kind === 'error' && !AgentError.is(end.error))
      breaches.push(`Agent ${index} ended with an error of no type: ${end.error}`)
    else if (end.kind === 'error') {
      const { code } = end.error as AgentError
      codes[code] = (codes[code] ?? 0) + 1
    } else if (end.total !== CALLS) breaches.push(`Agent ${index} ended with a total of ${end.total} of ${CALLS}.`)
    else results++
  })
  if (results === AGENTS) breaches.push('No kill hit an agent at work: nothing was shown.')
  return {
    breaches,
    figures: {
      agents: AGENTS,
      kills: server.kills,
      results,
      errors: codes,
      recovered: works.reduce((sum, { recovered }) => sum + recovered, 0),
      late: ended.filter(({ kind }) => kind === 'late').length,
    },
  }
})

/**
 * Runs an agent that adds entries one by one. With `recovers`, it can bring a fresh session to the state of the old
 * one.
 */
async function runAgent(server: Server, work: Work, rng: Rng, recovers: boolean): Promise<End> {
  const stop = new AbortController()
  const timer = setTimeout(() => stop.abort(), SECONDS * 1_000)
  await using sessions = openSessions(server, work, recovers)
  try {
    await using session = await openAgentSession({ sessions }, { signal: stop.signal })
    const agent = createAgent({ model: entries(work, rng), maximumTurns: CALLS + 1, mcpSession: session })
    const { text } = await agent.invoke('Add entries.', { signal: stop.signal })
    return { kind: 'result', total: Number(text) }
  } catch (error) {
    return stop.signal.aborted ? { kind: 'late' } : { kind: 'error', error }
  } finally {
    clearTimeout(timer)
  }
}

function openSessions(server: Server, work: Work, recovers: boolean): McpSessions {
  const recovery: Recovery = {
    async restore(fresh) {
      const amount = work.confirmed
      if (amount > 0) await fresh.callTool('add', { amount })
      work.recovered++
    },
  }
  return createMcpSessions(
    { mcpServers: { ledger: { url: `http://127.0.0.1:${server.port}/mcp` } } },
    { reconnects: 10, ...(recovers && { recovery: { ledger: recovery } }) },
  )
}

/** Asks for one entry after the other, and reads in each answer whether it is the next one of its own. */
function entries(work: Work, rng: Rng): Model {
  let calls = 0
  return async ({ messages }) => {
    const last = messages.at(-1)
    if (last?.role === 'tool') {
      const total = Number(/total of (\d+)/.exec(last.answer.text)?.[1])
      if (total !== work.confirmed + 1)
        work.breaches.push(`An agent with ${work.confirmed} entries received: ${last.answer.text}`)
      work.confirmed = total
    }
    await pause(rng.int(0, THINKING))
    if (work.confirmed === CALLS) return { text: String(work.confirmed) }
    return { text: '', calls: [{ id: String(++calls), name: 'add', arguments: { amount: 1 } }] }
  }
}
