import { Readable, Writable } from 'node:stream'
import * as acp from '@agentclientprotocol/sdk'
import { nextGuess } from '@episodic/models/bisect.fixture'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

// An agent of the Agent Client Protocol that guesses numbers by halves. STOP: the reason with which it stops after two
// guesses. LOGIN: it wants a login. HANG: it never calls, and waits to be cancelled. CRASH: it exits while it plays.
// NO_HTTP: it does not say that it takes MCP servers over HTTP. FAIL: it cannot begin its turn. OPTIONS: what it offers
// when it asks for a permission, as JSON. READS: it asks for a file of its client, and stops.

const { STOP, LOGIN, HANG, CRASH, NO_HTTP, FAIL, OPTIONS, READS } = process.env
let address = ''
let cancelled = () => {}

const agent = acp
  .agent({ name: 'halving' })
  .onRequest(acp.methods.agent.initialize, () => ({
    protocolVersion: acp.PROTOCOL_VERSION,
    agentInfo: { name: 'halving', version: '1.0.0' },
    authMethods: LOGIN ? [{ id: 'key', name: 'API key' }] : [],
    agentCapabilities: { mcpCapabilities: { http: !NO_HTTP, sse: false } },
  }))
  .onRequest(acp.methods.agent.session.new, ({ params: { mcpServers } }) => {
    if (LOGIN) throw new acp.RequestError(-32_000, 'Authentication required')
    const [server] = mcpServers
    address = server && 'url' in server ? server.url : ''
    return { sessionId: 's' }
  })
  .onNotification(acp.methods.agent.session.cancel, () => cancelled())
  .onRequest(acp.methods.agent.session.prompt, async ({ params: { sessionId, prompt }, client }) => {
    const update = (value: acp.SessionUpdate) =>
      client.notify(acp.methods.client.session.update, { sessionId, update: value })
    if (FAIL) throw new acp.RequestError(-32_603, 'Internal error', { details: 'There is no model.' })
    if (HANG) {
      await new Promise<void>((resolve) => {
        cancelled = resolve
      })
      return { stopReason: 'cancelled' as const }
    }
    const world = new Client({ name: 'halving', version: '1.0.0' })
    await world.connect(new StreamableHTTPClientTransport(new URL(address)))
    let seen = prompt.map((part) => ('text' in part ? part.text : '')).join('\n')
    const entry = { content: 'Halve what is left', priority: 'high' as const, status: 'in_progress' as const }
    await update({ sessionUpdate: 'plan', entries: [entry] })
    for (let guesses = 0; ; guesses++) {
      if (CRASH && guesses === 1) process.exit(3)
      if (STOP && guesses === 2) return { stopReason: STOP as acp.StopReason }
      const value = Number(nextGuess(seen))
      const toolCallId = `call_${guesses}`
      for (const text of ['I try ', `${value}.`])
        await update({ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text } })
      await update({ sessionUpdate: 'tool_call', toolCallId, title: 'world: guess', status: 'pending' })
      const options = OPTIONS ? JSON.parse(OPTIONS) : [{ optionId: 'yes', name: 'Allow', kind: 'allow_once' }]
      if (READS) {
        await client.request('fs/read_text_file', { sessionId, path: '/' }).catch(() => {})
        return { stopReason: 'end_turn' as const }
      }
      const { outcome } = await client.request<acp.RequestPermissionResponse>(
        acp.methods.client.session.requestPermission,
        { sessionId, toolCall: { toolCallId }, options },
      )
      if (outcome.outcome !== 'selected' || /no/i.test(outcome.optionId)) return { stopReason: 'end_turn' as const }
      await update({ sessionUpdate: 'tool_call_update', toolCallId, status: 'in_progress', rawInput: { value } })
      const { content } = await world.callTool({ name: 'guess', arguments: { value } })
      const text = JSON.stringify(content)
      seen += text
      await update({ sessionUpdate: 'tool_call_update', toolCallId, status: 'completed' })
      if (/correct|last guess/.test(text)) break
    }
    await update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'It is over.' } })
    return { stopReason: 'end_turn' as const }
  })

agent.connect(
  acp.ndJsonStream(
    Writable.toWeb(process.stdout) as WritableStream<Uint8Array>,
    Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>,
  ),
)
