import { HumanMessage, ToolMessage } from '@langchain/core/messages'
import { MultiServerMCPClient } from '@langchain/mcp-adapters'
import { tool } from 'langchain'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { AgentError, createMcpSessions, openAgentSession } from '../../index.ts'
import { createAgent, createStatefulAgent, StatefulAgentExecutor, withAgentSession } from '../../langchain.ts'
import { ScriptedChatModel } from '../fixtures/scripted-models.fixture.ts'
import { lives, notesCommand, thinkingCommand } from '../fixtures/servers.fixture.ts'

const mcpServers = { notes: notesCommand() }
const ask = (content: string) => ({ messages: [new HumanMessage(content)] })
const toolTexts = ({ messages }: { messages: unknown[] }) =>
  messages.filter((message) => ToolMessage.isInstance(message)).map(({ text }) => text)
const readAll = async (stream: AsyncIterable<unknown>) => {
  for await (const _ of stream);
}
const failure = (promise: Promise<unknown>): Promise<AgentError> =>
  promise.then(
    () => Promise.reject(new Error('It did not fail.')),
    (error) => error,
  )

describe('StatefulAgentExecutor of LangChain', () => {
  it('holds one session over its invocations, and keeps its messages', async () => {
    const model = new ScriptedChatModel([[['count']], 'one', [['count'], ['count']], 'three'])
    await using executor = new StatefulAgentExecutor({ model, systemPrompt: 'You count.', mcpServers })
    const first = await executor.invoke(ask('Count.'))
    expect([toolTexts(first), first.messages.at(-1)!.text]).toEqual([['1'], 'one'])
    const second = await executor.invoke({ messages: [{ role: 'user', content: 'Twice.' }] })
    expect(toolTexts(second)).toEqual(['1', '2', '3'])
    expect(model.asked[0]!.map((message) => message.getType())).toEqual(['system', 'human'])
  })

  it('streams what the agent streams, and says how it ended', async () => {
    const model = new ScriptedChatModel([[['count']], 'one', [['count']], 'two'])
    await using executor = new StatefulAgentExecutor({ model, mcpServers })
    const stream = executor.stream<Record<string, unknown>>(ask('Count.'), { streamMode: 'updates' })
    const nodes: string[] = []
    for await (const update of stream) nodes.push(...Object.keys(update))
    expect(nodes).toEqual(expect.arrayContaining(['model_request', 'tools']))
    expect(await stream.ended).toEqual({ reason: 'finished' })
    expect(toolTexts(await executor.invoke(ask('Again.')))).toEqual(['1', '2'])
  })

  it('stops what is not read to its end, and goes on with the next', async () => {
    const model = new ScriptedChatModel([[['hang']], 'after'])
    await using executor = new StatefulAgentExecutor({ model, mcpServers })
    const stream = executor.stream(ask('Hang.'), { streamMode: 'updates' })
    for await (const _ of stream) break
    expect(await stream.ended).toEqual({ reason: 'abandoned' })
    const { messages } = await executor.invoke(ask('Again.'))
    expect(messages.map(({ text }) => text)).toEqual(['Again.', 'after'])
    const reason = new Error('no')
    expect(await failure(executor.invoke(ask('More.'), { signal: AbortSignal.abort(reason) }))).toBe(reason)
  })

  it('ends with a typed error when its session is lost', async () => {
    const model = new ScriptedChatModel([[['die']], [['count']], 'never'])
    await using executor = new StatefulAgentExecutor({ model, mcpServers })
    const lost = await failure(executor.invoke(ask('Go.')))
    expect(AgentError.is(lost, 'outcome-unknown')).toBe(true)
    const stream = executor.stream(ask('Go on.'))
    const thrown = await failure(readAll(stream))
    expect([thrown.code, await stream.ended]).toEqual(['session-lost', { reason: 'failed', error: thrown }])
  })
})

describe('invalid tool calls of a model', () => {
  it('are answered with an error, and the run goes on', async () => {
    const model = new ScriptedChatModel([[['nope'], ['put', { key: 1 }], ['get', { key: 'none' }], ['count']], 'done'])
    await using executor = new StatefulAgentExecutor({ model, mcpServers })
    const { messages } = await executor.invoke(ask('Go.'))
    const toolTexts = messages.filter((message) => ToolMessage.isInstance(message))
    expect(toolTexts.map(({ status }) => status)).toEqual(['error', 'error', 'error', 'success'])
    expect(toolTexts[0]!.text).toMatch('nope is not a valid tool')
    expect(toolTexts[1]!.text).not.toMatch('.js:')
    expect(toolTexts[2]!.text).toBe('There is no note none.')
  })
})

describe('the other ways in, of LangChain', () => {
  it('scopes an agent and its session to a function', async () => {
    let pid = 0
    const out = await withAgentSession(
      { mcpServers, model: new ScriptedChatModel([[['count']], 'one']) },
      async ({ agent, session }) => {
        pid = Number((await session.session('notes').callTool('where')).text)
        return toolTexts(await agent.invoke(ask('Count.')))
      },
    )
    expect(out).toEqual(['1'])
    expect(await lives(pid)).toBe(false)
    const thrown = withAgentSession({ mcpServers, model: 'none' as never }, async ({ session }) => {
      pid = Number((await session.session('notes').callTool('where')).text)
      throw new Error('out of luck')
    })
    await expect(thrown).rejects.toThrow()
    expect(await lives(pid)).toBe(false)
  })

  it('gives an agent and its session, to be closed by hand', async () => {
    const { agent, session } = await createStatefulAgent({
      mcpServers,
      model: new ScriptedChatModel([[['count']], [['count']], 'two']),
    })
    expect(toolTexts(await agent.invoke(ask('Count.')))).toEqual(['1', '2'])
    await session.close()
    expect(session.session('notes').health).toBe('closed')
  })

  it("wraps createAgent by one option, with the agent's own tools and types", async () => {
    await using sessions = createMcpSessions({ mcpServers })
    await using mcpSession = await sessions.open('notes')
    const double = tool(({ value }) => String(2 * value), {
      name: 'double',
      description: 'Doubles.',
      schema: z.object({ value: z.number() }),
    })
    const agent = createAgent({
      model: new ScriptedChatModel([[['count'], ['double', { value: 21 }]], 'done']),
      tools: [double],
      mcpSession,
    })
    expect(toolTexts(await agent.invoke(ask('Go.')))).toEqual(['1', '42'])
    const typed = createAgent({
      model: new ScriptedChatModel([[['extract-1', {}]], 'done']),
      responseFormat: z.object({ total: z.number() }),
      mcpSession,
    })
    const read = (result: Awaited<ReturnType<typeof typed.invoke>>): number => result.structuredResponse.total
    expect(read).toBeTypeOf('function')
  })

  it('works beside tools of @langchain/mcp-adapters, and names apart what would clash', async () => {
    const adapters = new MultiServerMCPClient({
      mcpServers: {
        thinking: { transport: 'stdio', command: thinkingCommand.command, args: [...thinkingCommand.args!] },
        notes: { transport: 'stdio', command: process.execPath, args: [...notesCommand().args!] },
      },
    })
    try {
      await using mcpSession = await openAgentSession({ mcpServers })
      const tools = await adapters.getTools()
      const agent = createAgent({
        model: new ScriptedChatModel([[['count'], ['notes__count'], ['notes__count']], 'done']),
        tools,
        mcpSession,
      })
      expect(toolTexts(await agent.invoke(ask('Go.')))).toEqual(['1', '1', '2'])
    } finally {
      await adapters.close()
    }
  })
})
