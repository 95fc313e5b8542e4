import { generateTasks } from '@episodic/dataset'
import { connect, runEpisode, runMatch } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import { type Answering, type ChatServer, saying, startChatServer } from '@episodic/models/chat-server.fixture'
import { DEFAULT_OPTIONS, type ModelSettings } from '@episodic/models/model-options'
import { createLlmPolicy } from '@episodic/models/policy/llm-policy'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { environment as call, solver, tasks } from '../../fixtures/call.fixture.ts'
import { environment as desk } from '../../fixtures/desk.fixture.ts'
import { useGuessing } from './guessing.fixture.ts'

useGuessing({ OPENAI_API_KEY: 'sk-nobody-may-read-this' })

let server: ChatServer | null = null
afterEach(() => server?.[Symbol.asyncDispose]())

const ANTHROPIC = {
  ...{ id: 'msg', type: 'message', role: 'assistant', model: 'stub', stop_sequence: null },
  usage: { input_tokens: 1, output_tokens: 1 },
}
const words = (content: string, finish?: string) => saying({ role: 'assistant', content }, finish)

/** Answers with these bodies, one after the other. */
async function policyOver(answers: readonly object[], settings: Partial<ModelSettings> = {}) {
  const answering: Answering = (_, number) => answers[number] ?? words('Goodbye.')
  server = await startChatServer(answering)
  return createLlmPolicy('llm:test', 'test', { ...DEFAULT_OPTIONS, baseUrl: server.url, ...settings })
}

async function play(answers: readonly object[], settings: Partial<ModelSettings> = {}) {
  await using host = createHost({ environments: [desk, call] })
  await using connection = await connect(inProcess(host))
  const policy = await policyOver(answers, settings)
  const createEnvironment = () => connection.environment('desk')
  return await runEpisode({ createEnvironment, policy, task: { prompt: 'Be kind.' }, seed: 'world' })
}

describe('a world in which words are a move', () => {
  it('drops words beside a call, and takes no empty answer for speech where the tool takes no empty text', async () => {
    const beside = {
      role: 'assistant',
      content: 'Let me see.',
      tool_calls: [{ id: 'a', type: 'function', function: { name: 'look_up', arguments: '{"number":1}' } }],
    }
    const episode = await play([saying(beside, 'tool_calls'), words(''), words('Hello.')])
    expect(episode.steps.map(({ action: { tool } }) => tool)).toEqual(['look_up', 'say', 'say'])
    expect(server!.requests[2]!.messages.at(-1)).toEqual({ role: 'user', content: expect.stringMatching(/no words/) })
  })

  it('plays all calls of an answer in a game that wants them, and each seat says its own', async () => {
    await using host = createHost({ environments: [call] })
    await using connection = await connect(inProcess(host))
    const calls = [1, 2].map((number) => ({
      id: `call_${number}`,
      type: 'function',
      function: { name: 'look_up', arguments: JSON.stringify({ number }) },
    }))
    const agent = await policyOver([saying({ role: 'assistant', content: null, tool_calls: calls }), words('Known.')])
    const policies = { agent, user: solver }
    const match = await runMatch({ createGame: () => connection.game('call'), policies })
    expect(match).toMatchObject({ kind: 'finished', seats: { agent: { end: { reason: 'user-stop' } } } })
    expect(match.steps.map(({ seat, action: { tool } }) => `${seat} ${tool}`)).toEqual([
      ...['user say', 'agent look_up', 'agent look_up', 'agent say', 'user say'],
    ])
    expect(match.steps.map(({ observation }) => observation.text)).toEqual([
      ...['', '1 is known.', '2 is known.', '', ''],
    ])
    expect(server!.requests[1]!.messages).toEqual([
      { role: 'assistant', content: 'Hi! How can I help you today?' },
      { role: 'user', content: 'My data is off.' },
      { role: 'assistant', content: null, tool_calls: calls },
      { role: 'tool', tool_call_id: 'call_1', content: '1 is known.' },
      { role: 'tool', tool_call_id: 'call_2', content: '2 is known.' },
    ])
  })

  it.each([
    ['anthropic', { content: [{ type: 'text', text: 'Known.' }], stop_reason: 'end_turn', ...ANTHROPIC }],
    ['google', { candidates: [{ content: { role: 'model', parts: [{ text: 'Known.' }] }, finishReason: 'STOP' }] }],
  ] as const)('speaks with a model by the API of %s', async (api, answer) => {
    vi.stubEnv('ANTHROPIC_API_KEY', 'a-key').stubEnv('GEMINI_API_KEY', 'a-key')
    server = await startChatServer(() => answer)
    const agent = createLlmPolicy('llm:m', 'm', { ...DEFAULT_OPTIONS, api, baseUrl: server.url })
    await using host = createHost({ environments: [call] })
    await using connection = await connect(inProcess(host))
    const [task] = generateTasks(tasks, { seed: '0', count: 1 })
    const policies = { agent, user: solver }
    const match = await runMatch({ createGame: () => connection.game('call'), policies, ...(task && { task }) })
    expect(match.steps.map(({ seat, action }) => `${seat}: ${action.arguments.text}`)).toEqual([
      ...['user: My data is off.', 'agent: Known.', 'user: Yes! ###STOP###'],
    ])
    const { system, systemInstruction, messages, contents } = server.requests[0] as unknown as Record<string, unknown>
    expect(JSON.stringify(system ?? systemInstruction)).toContain('<policy>')
    const sent = (messages ?? contents) as { role: string; content?: unknown; parts?: unknown }[]
    expect(sent.map(({ role }) => role)).toEqual(['user', api === 'google' ? 'model' : 'assistant', 'user'])
    expect(JSON.stringify(sent.slice(1))).toMatch(/How can I help you today.*My data is off/)
  })

  it('sends the model of each seat what τ² sends: its prompt alone, what the other says, and its own calls', async () => {
    const says = (content: string) => ({ role: 'assistant', content })
    const calls = (content: string | null, ...made: readonly (readonly [string, object])[]) => ({
      role: 'assistant',
      content,
      tool_calls: made.map(([name, args], i) => ({
        id: `call_${i}`,
        type: 'function',
        function: { name, arguments: JSON.stringify(args) },
      })),
    })
    const answers: Readonly<Record<string, object[]>> = {
      user: [says('My data is off.'), calls(null, ['toggle', {}]), says('I switched it.'), says('Yes! ###STOP###')],
      agent: [
        calls('I look it up.', ['look_up', { number: 1 }], ['look_up', { number: 2 }]),
        says('Please switch it off and on.'),
        says('Does it work?'),
      ],
    }
    const left = structuredClone(answers)
    server = await startChatServer(({ model }) => saying(left[model]!.shift()!))
    const settings = { ...DEFAULT_OPTIONS, baseUrl: server.url }
    const policies = {
      agent: createLlmPolicy('llm:agent', 'agent', settings),
      user: createLlmPolicy('llm:user', 'user', settings),
    }
    await using host = createHost({ environments: [call] })
    await using connection = await connect(inProcess(host))
    const [task] = generateTasks(tasks, { seed: '0', count: 1 })
    const match = await runMatch({ createGame: () => connection.game('call'), policies, ...(task && { task }) })
    expect(match).toMatchObject({ kind: 'finished', seats: { agent: { end: { reason: 'user-stop' } } } })

    // As the loop of the original keeps the messages of both, and flips the roles for the user.
    const result = (content: string, i = 0) => ({ role: 'tool', tool_call_id: `call_${i}`, content })
    const [hello, lookUps, ask, asksAgain] = [says('Hi! How can I help you today?'), ...answers.agent!] as ReturnType<
      typeof says
    >[]
    const [off, toggle, switched] = answers.user as ReturnType<typeof says>[]
    const flipped = (message: object) => ({ ...message, role: 'user' })
    const agent = [
      { role: 'system', content: '<policy>' },
      ...[hello, flipped(off!), lookUps, result('1 is known.', 0), result('2 is known.', 1), ask],
      ...[flipped(switched!), asksAgain, flipped(says('Yes! ###STOP###'))],
    ]
    const user = [
      { role: 'system', content: '<scenario>' },
      ...[flipped(hello!), off, flipped(ask!), toggle, result('Toggled.'), switched, flipped(asksAgain!)],
    ]
    const sent = (model: string) => server!.requests.filter((request) => request.model === model)
    expect(sent('agent').map(({ messages }) => messages)).toEqual([3, 6, 8].map((count) => agent.slice(0, count)))
    expect(sent('user').map(({ messages }) => messages)).toEqual([2, 4, 6, 8].map((count) => user.slice(0, count)))
    for (const model of ['agent', 'user'])
      for (const { tools, tool_choice, parallel_tool_calls } of sent(model)) {
        expect(tools.map((tool) => tool.function.name)).toEqual([model === 'agent' ? 'look_up' : 'toggle'])
        expect([tool_choice, parallel_tool_calls]).toEqual(['auto', undefined])
      }
  })

  it('goes on after words of others as after its own', async () => {
    await using host = createHost({ environments: [desk] })
    await using connection = await connect(inProcess(host))
    const policy = await policyOver([words('Done.')], { systemPrompt: '' })
    await using environment = connection.environment('desk')
    const start = await environment.reset({ seed: 'world' })
    const action = { tool: 'say', arguments: { text: 'Which number?' } }
    const step = await environment.step(action)
    const tools = environment.info.tools.filter(({ speech }) => speech)
    const context = { task: { prompt: '', hints: [], params: {} }, tools, seed: 'a' }
    const player = await policy.resume!(context, [{ observation: start.observation, action, step, answers: [] }])
    expect(await player(step.observation, { last: step })).toEqual({ tool: 'say', arguments: { text: 'Done.' } })
    // Servers refuse an empty list of tools.
    expect(server!.requests[0]).not.toHaveProperty('tools')
    expect(server!.requests[0]).not.toHaveProperty('tool_choice')
    expect(server!.requests[0]!.messages).toEqual([
      { role: 'user', content: 'My phone is dead.' },
      { role: 'assistant', content: 'Which number?' },
      { role: 'user', content: 'It is 42.' },
    ])
  })
})
