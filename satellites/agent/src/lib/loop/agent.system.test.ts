import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type AgentError,
  type AgentMessage,
  type AgentTool,
  createAgent,
  createMcpSessions,
  createStatefulAgent,
  type LocalTool,
  nameTools,
  openAgentSession,
  StatefulAgentExecutor,
  withAgentSession,
} from '../../index.ts'
import { scriptedModel } from '../fixtures/scripted-models.fixture.ts'
import { lives, notesCommand, serveNotes, until } from '../fixtures/servers.fixture.ts'

const mcpServers = { notes: notesCommand() }
const failure = (promise: Promise<unknown>): Promise<AgentError> =>
  promise.then(
    () => Promise.reject(new Error('It did not fail.')),
    (error) => error,
  )
const toolTexts = (messages: readonly AgentMessage[]) =>
  messages.flatMap((message) => (message.role === 'tool' ? [message.answer.text] : []))
const double: LocalTool = {
  name: 'double',
  description: 'Doubles.',
  inputSchema: { type: 'object', properties: { value: { type: 'number' } } },
  call: async ({ value }) => {
    if (typeof value !== 'number') throw new Error('That is no number.')
    return String(2 * value)
  },
}

describe('an agent without a framework', () => {
  it('calls tools of its session and functions of the program, in the order in which it wants them', async () => {
    await using mcpSession = await openAgentSession({ mcpServers })
    const { model } = scriptedModel([[['count'], ['double', { value: 21 }], ['count']], 'done'])
    const agent = createAgent({ model, tools: [double], mcpSession })
    const { text, messages } = await agent.invoke('Go.')
    expect([text, toolTexts(messages)]).toEqual(['done', ['1', '42', '2']])
  })

  it('answers invalid calls with an error that the model sees', async () => {
    await using mcpSession = await openAgentSession({ mcpServers })
    const wrong = [['nope'], ['double', { value: 'x' }], ['put', { key: 1 }], ['get', { key: 'none' }]] as const
    const { model } = scriptedModel([wrong, 'done'])
    const { messages } = await createAgent({ model, tools: [double], mcpSession }).invoke('Go.')
    const [unknown, threw, invalid, refused] = toolTexts(messages)
    expect(unknown).toMatch('There is no tool nope. There is: double, count, ')
    expect(threw).toBe('double failed: That is no number.')
    expect(invalid).toMatch(/Invalid/)
    expect(refused).toBe('There is no note none.')
  })

  it('answers a call of a removed tool with an error, and goes on', async () => {
    await using server = await serveNotes()
    await using session = await openAgentSession({ mcpServers: { notes: { url: server.url } } })
    await server.restart({ WITHOUT: 'count' })
    await session.session('notes').refresh()
    const { model } = scriptedModel([[['count'], ['read']], 'done'])
    const { messages } = await createAgent({ model, mcpSession: session }).invoke('Go.')
    expect(toolTexts(messages)[0]).toMatch('has no such tool any more')
    expect(toolTexts(messages)[1]).toBe('0')
  })

  it('ends a run after maximumTurns, and at a lost session', async () => {
    await using mcpSession = await openAgentSession({ mcpServers })
    const endless = createAgent({ model: scriptedModel([[['count']]]).model, maximumTurns: 3, mcpSession })
    expect(await failure(endless.invoke('Go.'))).toMatchObject({ code: 'step-limit' })
    const dying = createAgent({ model: scriptedModel([[['die']], 'never']).model, mcpSession })
    expect(await failure(dying.invoke('Go.'))).toMatchObject({ code: 'outcome-unknown' })
    const stream = dying.stream('Go.')
    for await (const event of stream) expect(event).toMatchObject({ role: 'assistant', text: 'never' })
    expect(await stream.ended).toEqual({ reason: 'finished' })
  })
})

describe('StatefulAgentExecutor', () => {
  it('holds one session and the messages of its invocations', async () => {
    const { model, asked } = scriptedModel([[['count']], 'one', [['count'], ['count']], 'three'])
    await using executor = new StatefulAgentExecutor({ model, mcpServers })
    expect(toolTexts((await executor.invoke('Count.')).messages)).toEqual(['1'])
    expect(toolTexts((await executor.invoke('Twice.')).messages)).toEqual(['1', '2', '3'])
    expect(asked).toEqual([1, 3, 5, 8])
  })

  it('keeps no messages where that is turned off, and whole turns where there are too many', async () => {
    const forgetful = scriptedModel([[['count']], 'one', [['count']], 'two'])
    await using none = new StatefulAgentExecutor({ model: forgetful.model, mcpServers, keepMessages: false })
    await none.invoke('Count.')
    expect(toolTexts((await none.invoke('Again.')).messages)).toEqual(['2'])
    const bounded = scriptedModel(['one', 'two', 'three', 'four'])
    await using some = new StatefulAgentExecutor({ model: bounded.model, mcpServers, maximumMessages: 3 })
    for (const input of ['1', '2', '3', '4']) await some.invoke(input)
    expect(bounded.asked).toEqual([1, 3, 3, 3])
  })

  it('keeps nothing of an invocation that fails, and opens its session at the next one', async () => {
    const { model, asked } = scriptedModel([[['die']], [['read']], 'done'])
    const recovery = { notes: { restore: async () => {} } }
    await using executor = new StatefulAgentExecutor({ model, mcpServers, recovery })
    expect((await failure(executor.invoke('Die.'))).code).toBe('outcome-unknown')
    expect(toolTexts((await executor.invoke('Read.')).messages)).toEqual(['0'])
    expect(asked).toEqual([1, 1, 3])
  })

  it('says how each stream ended', async () => {
    const { model } = scriptedModel([[['count']], 'one', [['hang']], [['die']], 'never'])
    await using executor = new StatefulAgentExecutor({ model, mcpServers })
    const read = async (stream: ReturnType<StatefulAgentExecutor['stream']>, events = Infinity) => {
      const seen: string[] = []
      for await (const event of stream) {
        seen.push(event.role)
        if (seen.length === events) break
      }
      return seen
    }
    const whole = executor.stream('Count.')
    expect(await read(whole)).toEqual(['assistant', 'tool', 'assistant'])
    expect(await whole.ended).toEqual({ reason: 'finished' })
    const left = executor.stream('Hang.')
    await read(left, 1)
    expect(await left.ended).toEqual({ reason: 'abandoned' })
    const failed = executor.stream('Die.')
    const error = await failure(read(failed))
    expect(await failed.ended).toEqual({ reason: 'failed', error })
    const reason = new Error('enough')
    const aborted = executor.stream('More.', { signal: AbortSignal.abort(reason) })
    expect(await failure(read(aborted))).toBe(reason)
    expect(await aborted.ended).toEqual({ reason: 'aborted', error: reason })
  })

  it('runs one invocation at a time, refuses more than may wait, and gives up all when it is closed', async () => {
    const { model, asked } = scriptedModel([[['hang']]])
    const executor = new StatefulAgentExecutor({ model, mcpServers, maximumWaitingInvocations: 1 })
    const running = failure(executor.invoke('one'))
    const waiting = failure(executor.invoke('two'))
    expect((await failure(executor.invoke('three'))).code).toBe('executor-busy')
    await until(() => asked.length === 1)
    await executor.close()
    expect([(await running).code, (await waiting).code]).toEqual(['session-closed', 'session-closed'])
    expect((await failure(executor.invoke('more'))).code).toBe('session-closed')
  })
})

describe('the other ways in', () => {
  it('ends the session with its scope, also on a throw, or by hand', async () => {
    const options = { mcpServers, model: scriptedModel([[['count']], 'one']).model }
    let pid = 0
    const thrown = withAgentSession(options, async ({ agent, session }) => {
      expect(toolTexts((await agent.invoke('Count.')).messages)).toEqual(['1'])
      pid = Number((await session.session('notes').callTool('where')).text)
      throw new Error('out of luck')
    })
    await expect(thrown).rejects.toThrow('out of luck')
    expect(await lives(pid)).toBe(false)
    const { agent, session } = await createStatefulAgent(options)
    expect((await agent.invoke('More.')).text).toBe('one')
    await session.close()
    expect(session.session('notes').health).toBe('closed')
  })

  it('want a session, and not the promise of one', async () => {
    await using sessions = createMcpSessions({ mcpServers })
    const opening = sessions.open('notes')
    await opening
    const { model } = scriptedModel(['done'])
    for (const mcpSession of [opening, sessions, undefined] as never[])
      await expect(async () => createAgent({ model, mcpSession }).invoke('Go.')).rejects.toMatchObject({
        code: 'config-invalid',
        message: expect.stringContaining('await it'),
      })
  })
})

describe('the scopes of an agent', () => {
  it('keeps apart agents, calls and what is shared by name', async () => {
    await using server = await serveNotes()
    const { url } = server
    await using sessions = createMcpSessions({ mcpServers: { own: { url }, each: { url }, team: { url } } })
    const scopes = { each: 'call', team: 'shared:team', team__read: 'agent' } as const
    const open = () => openAgentSession({ sessions, scopes })
    await using ada = await open()
    await using bob = await open()
    const count = async (session: typeof ada, server: string, tool = 'count') => {
      const found = session.tools.find((other) => other.server === server && other.tool.name === tool)
      return (await found!.call({})).text
    }
    expect([await count(ada, 'own'), await count(ada, 'own'), await count(bob, 'own')]).toEqual(['1', '2', '1'])
    expect([await count(ada, 'each'), await count(ada, 'each')]).toEqual(['1', '1'])
    expect([await count(ada, 'team'), await count(bob, 'team')]).toEqual(['1', '2'])
    expect(await count(ada, 'team', 'read')).toBe('0')
    expect(ada.tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['own__count', 'team__count']))
    await ada.close()
    expect(await count(bob, 'team')).toBe('3')
  })

  it('refuses scopes that mean nothing, and servers that there are not', async () => {
    const open = (options: object) => failure(openAgentSession({ mcpServers, ...options }))
    expect((await open({ scopes: { note: 'call' } })).message).toMatch('A scope is set for note, which is no server')
    expect((await open({ scopes: { notes: 'all' } })).message).toMatch('It can be agent, call or shared:<name>')
    expect((await open({ scopes: { notes: 'shared:team' } })).message).toMatch('give each agent { sessions }')
    expect((await open({ servers: ['node'] })).code).toBe('server-unknown')
    await using session = await openAgentSession({ mcpServers, scopes: { notes: 'call' } })
    expect(() => session.session('notes')).toThrow('This agent has no session with a server notes. It has: none.')
  })
})

describe('nameTools', () => {
  const toolOf = (server: string, name: string) =>
    ({ name, server, tool: { name }, call: async () => {} }) as unknown as AgentTool
  const named = (tools: readonly AgentTool[], taken: readonly string[] = []) =>
    nameTools(tools, taken).map(({ name }) => name)

  it('leaves a name alone unless it clashes, with another server or with a function', () => {
    const tools = [toolOf('a', 'read'), toolOf('b', 'read'), toolOf('b', 'fs.write'), toolOf('b', 'sum')]
    expect(named(tools, ['sum'])).toEqual(['a__read', 'b__read', 'fs_write', 'b__sum'])
  })

  it('refuses what still clashes, or is too long', () => {
    expect(() => named([toolOf('a', 'read')], ['read', 'a__read'])).toThrow('which another tool is called')
    expect(() => named([toolOf('a', 'x'.repeat(65))])).toThrow('longer than 64 characters')
  })

  it('gives no two tools one name, and none that models are not served with', () => {
    const name = fc.stringMatching(/^[a-c._-]{1,3}$/)
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.tuple(fc.constantFrom('a', 'b', 'c.d'), name), { selector: String }),
        fc.array(name),
        (pairs, taken) => {
          let names: string[]
          try {
            names = named(
              pairs.map(([server, tool]) => toolOf(server, tool)),
              taken,
            )
          } catch (error) {
            expect((error as AgentError).code).toBe('config-invalid')
            return
          }
          expect(new Set([...names, ...taken]).size).toBe(names.length + new Set(taken).size)
          for (const each of names) expect(each).toMatch(/^[\w-]{1,64}$/)
        },
      ),
    )
  })
})
