import { connect } from '@episodic/env'
import type { SessionEnvironment } from '@episodic/env/internal'
import type { Host } from '@episodic/mcp-server'
import { serveHttp } from '@episodic/mcp-server/http'
import type { Action, JsonObject } from '@episodic/protocol'
import { withoutDataLine } from '@episodic/protocol/internal'
import type { Client, Connection, ProtocolVersion, Shown } from '../clients/client.ts'
import { sdkFirst } from '../clients/sdk-first.ts'
import { sdkSecond } from '../clients/sdk-second.ts'
import type { ParityClient, ParityPlayer } from './parity-client.ts'
import type { WholeStep } from './seen-episode.ts'

/** What the server adds to the last answer of an episode, which the world did not say. */
const OVER = /\nThe episode is over\. .*$/

/** A step is the next one of its log as soon as it is answered. */
const WATCH_SECONDS = 10

/** MCP's own clients, at the address of one session. What an agent is not shown, the trainer of the session reads. */
export const AGENT_CLIENTS: readonly ParityClient[] = [
  agentClient('mcp-2025', sdkFirst, '2025-11-25'),
  agentClient('mcp-2026', sdkSecond, '2026-07-28'),
]

function agentClient(name: string, client: Client, protocol: ProtocolVersion): ParityClient {
  return {
    name,
    title: `MCP ${protocol}, ${client.name} ${client.version}`,
    shows: {
      opening: ['text', 'structured'],
      step: ['text', 'structured', 'done', 'refused', 'terms', 'end', 'success', 'potential', 'stateHash', 'seq'],
      total: [],
    },
    open: (host) => openPlayer(host, client, protocol),
  }
}

async function openPlayer(host: Host, client: Client, protocol: ProtocolVersion): Promise<ParityPlayer> {
  await using cleanUp = new AsyncDisposableStack()
  const limits = { rate: { calls: 1_000_000, seconds: 1 } }
  const server = cleanUp.use(await serveHttp(host, { limits }))
  const trainer = cleanUp.use(await connect({ url: server.trainerUrl, token: server.controlToken }))
  const owned = cleanUp.move()
  return {
    async play({ world, task, actions }) {
      await using watched = trainer.watched(world.name)
      const { observation, info } = await watched.reset(task)
      const place = { url: server.sessionUrl(info.capability as string) }
      await using agent = await client.connect({ place, protocol, view: 'text' })
      if (agent.protocol !== protocol) throw new Error(`The client speaks ${agent.protocol}, and not ${protocol}.`)
      const steps: Partial<WholeStep>[] = []
      for (const action of actions) steps.push({ ...(await callTool(agent, action)), ...(await readStep(watched)) })
      return { opening: observation, steps, total: {} }
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** What the agent is shown, without what the server added to it. */
async function callTool(agent: Connection, { tool, arguments: input }: Action): Promise<Partial<WholeStep>> {
  const shown: Shown = await agent.call(tool, input)
  const text = shown.text ?? ''
  const done = OVER.test(text)
  const said = { text: text.replace(OVER, ''), done }
  if (shown.structured === null) return { ...said, structured: null }
  const { observation, episode_over, ...structured } = shown.structured
  // The data stands beside the observation there, so the observation is without the line of it.
  if (observation !== withoutDataLine(text, structured as JsonObject) || episode_over !== done)
    throw new Error(`The structured content is not that of the text: ${JSON.stringify(shown)}`)
  return { ...said, structured: Object.keys(structured).length > 0 ? structured : null }
}

async function readStep(watched: SessionEnvironment): Promise<Partial<WholeStep>> {
  const action = await watched.next({ wait: WATCH_SECONDS })
  if (!action) throw new Error('The trainer does not see the step that the agent played.')
  const { reward, end, info } = await watched.step(action)
  const { refused, success = null, potential, stateHash, seq } = info
  return { refused, terms: reward.terms, end, success, potential, stateHash: stateHash as string, seq }
}
