import { isStepCount, tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createStatefulAgent, StatefulAgentExecutor, ToolLoopAgent, withAgentSession } from '../../ai-sdk.ts'
import { type AgentError, createMcpSessions, openAgentSession, type ToolAnswer } from '../../index.ts'
import { scriptedLanguageModel } from '../fixtures/scripted-models.fixture.ts'
import { lives, notesCommand } from '../fixtures/servers.fixture.ts'

const mcpServers = { notes: notesCommand() }
const readAll = async <T>(stream: AsyncIterable<T>): Promise<T[]> => {
  const read: T[] = []
  for await (const part of stream) read.push(part)
  return read
}
const failure = (promise: PromiseLike<unknown>): Promise<AgentError> =>
  Promise.resolve(promise).then(
    () => Promise.reject(new Error('It did not fail.')),
    (error) => error,
  )
const outputs = ({ steps }: { steps: readonly { readonly toolResults: readonly { readonly output: unknown }[] }[] }) =>
  steps.flatMap(({ toolResults }) => toolResults.map(({ output }) => (output as ToolAnswer).text))

describe('StatefulAgentExecutor of the AI SDK', () => {
  it('holds one session over its invocations, and keeps its messages', async () => {
    const model = scriptedLanguageModel([[['count']], 'one', [['count'], ['count']], 'three'])
    await using executor = new StatefulAgentExecutor({ model, instructions: 'You count.', mcpServers })
    const first = await executor.invoke({ prompt: 'Count.' })
    expect([outputs(first), first.text]).toEqual([['1'], 'one'])
    const second = await executor.invoke({ messages: [{ role: 'user', content: 'Twice.' }] })
    expect([outputs(second), second.text]).toEqual([['2', '3'], 'three'])
    expect(model.doGenerateCalls.map(({ prompt }) => prompt.length)).toEqual([2, 4, 6, 8])
  })

  it('streams the parts of streamText, says how it ended, and keeps its messages', async () => {
    const model = scriptedLanguageModel([[['count']], 'one', [['count']], 'two'])
    await using executor = new StatefulAgentExecutor({ model, mcpServers })
    const stream = executor.stream({ prompt: 'Count.' })
    const types: string[] = []
    for await (const part of stream) types.push(part.type)
    expect(types).toEqual(expect.arrayContaining(['tool-call', 'tool-result', 'text-delta', 'finish']))
    expect(await stream.ended).toEqual({ reason: 'finished' })
    await executor.invoke({ prompt: 'Again.' })
    expect(model.doGenerateCalls[0]!.prompt).toHaveLength(5)
  })

  it('stops what is not read to its end, and goes on with the next', async () => {
    const model = scriptedLanguageModel([[['count']], [['hang']], 'never'])
    await using executor = new StatefulAgentExecutor({ model, mcpServers })
    const stream = executor.stream({ prompt: 'Count.' })
    for await (const part of stream) if (part.type === 'tool-result') break
    expect(await stream.ended).toEqual({ reason: 'abandoned' })
    const hanging = executor.invoke({ prompt: 'Hang.' }, { signal: AbortSignal.timeout(500) })
    expect((await failure(hanging)).name).toBe('TimeoutError')
  })

  it('ends with a typed error when its session is lost', async () => {
    const model = scriptedLanguageModel([[['die']], 'never'])
    await using executor = new StatefulAgentExecutor({ model, mcpServers })
    expect((await failure(executor.invoke({ prompt: 'Go.' }))).code).toBe('outcome-unknown')
    await using other = new StatefulAgentExecutor({ model: scriptedLanguageModel([[['die']], 'never']), mcpServers })
    const stream = other.stream({ prompt: 'Go.' })
    const thrown = await failure(readAll(stream))
    expect([thrown.code, (await stream.ended).reason]).toEqual(['outcome-unknown', 'failed'])
  })
})

describe('the other ways in, of the AI SDK', () => {
  it('gives a ToolLoopAgent the tools of a session by one option', async () => {
    await using sessions = createMcpSessions({ mcpServers })
    await using mcpSession = await sessions.open('notes')
    const double = tool({
      description: 'Doubles.',
      inputSchema: z.object({ value: z.number() }),
      execute: ({ value }) => 2 * value,
    })
    const model = scriptedLanguageModel([[['count'], ['double', { value: 21 }]], 'done', [['count']], 'done again'])
    const agent = new ToolLoopAgent({ model, tools: { double }, mcpSession })
    const generated = await agent.generate({ prompt: 'Go.' })
    expect(generated.text).toBe('done')
    expect(generated.steps[0]!.toolResults.map(({ output }) => output)).toEqual([
      expect.objectContaining({ text: '1' }),
      42,
    ])
    const streamed = await agent.stream({ prompt: 'Go.' })
    expect(await readAll(streamed.textStream)).toEqual(['done again'])
    expect(outputs({ steps: await streamed.steps })).toEqual(['2'])
  })

  it('ends it with a typed error when the session is lost', async () => {
    await using mcpSession = await openAgentSession({ mcpServers })
    const stopWhen = isStepCount(1)
    const agentOf = (tool: string) =>
      new ToolLoopAgent({ model: scriptedLanguageModel([[[tool]], 'never']), mcpSession, stopWhen, onError: () => {} })
    expect((await failure(agentOf('die').generate({ prompt: 'Go.' }))).code).toBe('outcome-unknown')
    expect((await failure(agentOf('count').generate({ prompt: 'Go.' }))).code).toBe('session-lost')
    const errors: unknown[] = []
    for await (const part of (await agentOf('count').stream({ prompt: 'Go.' })).stream)
      if (part.type === 'error') errors.push(part.error)
    expect(errors).toEqual([expect.objectContaining({ code: 'session-lost' })])
  })

  it('passes refused calls to the model as errors, and images as images', async () => {
    await using session = await openAgentSession({ mcpServers })
    const model = scriptedLanguageModel([[['nope'], ['put', { key: 1 }], ['picture']], 'done'])
    const { text } = await new ToolLoopAgent({ model, mcpSession: session }).generate({ prompt: 'Go.' })
    expect(text).toBe('done')
    const toolTexts = model.doGenerateCalls[1]!.prompt.filter(({ role }) => role === 'tool')
    const results = toolTexts.flatMap(({ content }) => content as { output: { type: string; value: unknown } }[])
    expect(results.map(({ output }) => output.type).sort()).toEqual(['content', 'error-text', 'error-text'])
    expect(JSON.stringify(results)).toMatch('iVBORw0KGgo=')
  })

  it('scopes an agent and its session to a function, or gives both', async () => {
    let pid = 0
    const out = await withAgentSession(
      { mcpServers, model: scriptedLanguageModel([[['count']], 'one']) },
      async ({ agent, session }) => {
        pid = Number((await session.session('notes').callTool('where')).text)
        return outputs(await agent.generate({ prompt: 'Count.' }))
      },
    )
    expect([out, await lives(pid)]).toEqual([['1'], false])
    const made = await createStatefulAgent({ mcpServers, model: scriptedLanguageModel([[['count']], 'one']) })
    expect(outputs(await made.agent.generate({ prompt: 'Count.' }))).toEqual(['1'])
    await made.session.close()
    expect(made.session.session('notes').health).toBe('closed')
  })
})
