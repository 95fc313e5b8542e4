import { isDeepStrictEqual } from 'node:util'
import { connect, runEpisode, runTree } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import {
  bisecting,
  type ChatRequest,
  type ChatServer,
  saying,
  startChatServer,
} from '@episodic/models/chat-server.fixture'
import { DEFAULT_OPTIONS, type ModelSettings } from '@episodic/models/model-options'
import { createLlmPolicy } from '@episodic/models/policy/llm-policy'
import { loadWorld } from '@episodic/play/worlds/world'
import type { JsonObject } from '@episodic/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { exampleWorld } from '../../fixtures/episodic.fixture.ts'
import { useGuessing } from './guessing.fixture.ts'

const connection = useGuessing({ OPENAI_API_KEY: 'sk-nobody-may-read-this' })

let server: ChatServer | null = null
afterEach(() => server?.[Symbol.asyncDispose]())

interface OddServer {
  /** Returns why a request is refused, or `null`. */
  readonly refuse?: (request: ChatRequest, messages: readonly JsonObject[]) => string | null
  /** Adds to the message of an answer, and to its call. */
  readonly message?: JsonObject
  readonly call?: JsonObject
}

/** Begins a server that bisects, and refuses what it does not take. Returns a policy that asks it. */
async function policyOver({ refuse, message, call }: OddServer, settings: Partial<ModelSettings> = {}) {
  server = await startChatServer((request, _, response) => {
    const problem = refuse?.(request, request.messages as unknown as JsonObject[])
    if (problem) {
      response.writeHead(400, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ error: { message: problem } }))
      return null
    }
    const body = bisecting(request) as { choices: [{ message: JsonObject & { tool_calls: [JsonObject] } }] }
    const [choice] = body.choices
    Object.assign(choice.message, message)
    Object.assign(choice.message.tool_calls[0], call)
    return body
  })
  return createLlmPolicy('llm:odd', 'odd', { ...DEFAULT_OPTIONS, baseUrl: server.url, ...settings })
}

async function play(odd: OddServer, settings?: Partial<ModelSettings>) {
  const policy = await policyOver(odd, settings)
  const task = { prompt: 'Find it.' }
  return runEpisode({ createEnvironment: () => connection().environment(), policy, task, seed: 'world' })
}

/** The messages of the assistant. */
const own = (messages: readonly JsonObject[]) => messages.filter(({ role }) => role === 'assistant')
const has = (name: string) => (value: JsonObject) => name in value
const callsOf = (message: JsonObject) => (message.tool_calls ?? []) as JsonObject[]

describe('an answer goes back as it came', () => {
  const parts: JsonObject[] = [
    { type: 'thinking', thinking: [{ type: 'text', text: 'Halve it.' }] },
    { type: 'text', text: 'I try the middle.' },
  ]
  it('with fields that nobody knows, and a content in parts', async () => {
    const message = { content: parts, unheard_of: { 1: [null] } }
    const refuse = (_: ChatRequest, messages: readonly JsonObject[]) =>
      own(messages).every((sent) => isDeepStrictEqual({ ...sent, ...message }, sent))
        ? null
        : 'What I have sent must be passed back.'
    const episode = await play({ message, refuse })
    expect(episode).toMatchObject({ kind: 'finished', end: { reason: 'solved' } })
    expect(server!.requests).toHaveLength(episode.steps.length)
  })

  it('reads the texts and the thoughts of a content in parts', async () => {
    const { steps } = await play({ message: { content: parts } })
    expect(steps[0]?.completions[0]).toMatchObject({ text: 'I try the middle.', reasoning: 'Halve it.' })
  })

  it('without what is empty', async () => {
    await play({ message: { refusal: null, annotations: [], audio: null, reasoning_content: '' } })
    const [answer] = own(server!.requests[1]!.messages as unknown as JsonObject[])
    expect(Object.keys(answer!)).toEqual(['role', 'content', 'tool_calls'])
  })

  it('but is left out if it is empty', async () => {
    server = await startChatServer((request, number) =>
      number === 1 ? saying({ content: null, reasoning_content: 'I thought for long.' }) : bisecting(request),
    )
    const policy = createLlmPolicy('llm:odd', 'odd', { ...DEFAULT_OPTIONS, baseUrl: server.url })
    const task = { prompt: 'Find it.' }
    await runEpisode({ createEnvironment: () => connection().environment(), policy, task, seed: 'world' })
    expect(server.requests[2]!.messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'user',
    ])
  })
})

describe('a server that refuses something', () => {
  it('is asked without it from then on', async () => {
    const refuse = (_: ChatRequest, messages: readonly JsonObject[]) =>
      own(messages).flatMap(callsOf).some(has('extra_content')) ? 'Unknown field extra_content in tool_calls[0]' : null
    const episode = await play({ call: { extra_content: {} }, refuse })
    expect(episode).toMatchObject({ kind: 'finished', end: { reason: 'solved' } })
    expect(server!.requests).toHaveLength(episode.steps.length + 1)
    expect(episode.steps.at(-1)!.completions[0]!.leftOut).toEqual(['extra_content of messages'])
  })

  it('may refuse several things', async () => {
    const refuse = (request: ChatRequest) => {
      const named = ['seed', 'temperature', 'tool_choice'].find((name) => name in request)
      return named ? `Unrecognized request argument supplied: ${named}` : null
    }
    const { steps } = await play({ refuse }, { temperature: 0 })
    expect(steps[0]!.completions[0]!.leftOut).toEqual(['seed', 'temperature', 'tool_choice'])
  })

  it.each([
    ['the value of a parameter', "Invalid 'seed': integer above maximum value"],
    ['something that it does not name', 'This is not supported'],
    ['something that was not sent', "Unsupported parameter: 'logit_bias'"],
  ])('as %s fails the episode', async (_, problem) => {
    const episode = await play({ refuse: () => problem })
    expect(episode).toMatchObject({ kind: 'failed', cause: { code: 'model-refused' } })
    expect(server!.requests).toHaveLength(1)
  })
})

describe('a call without an id', () => {
  it('gets one of nine letters or digits, which every server takes', async () => {
    const refuse = (_: ChatRequest, messages: readonly JsonObject[]) =>
      own(messages)
        .flatMap(callsOf)
        .every(({ id }) => /^[a-zA-Z0-9]{9}$/.test(String(id)))
        ? null
        : 'Tool call id must be a-z, A-Z, 0-9, with a length of 9.'
    const policy = await policyOver({ call: { id: '' }, refuse })
    const leaves = await runTree({
      createEnvironment: () => connection().environment(),
      policy,
      task: { prompt: 'Find it.' },
      seed: 'tree',
      points: [{ lines: 2, at: 2 }],
      branchSeed: 'forks',
    })
    for (const { episode } of leaves) expect(episode).toMatchObject({ kind: 'finished', end: { reason: 'solved' } })
  })
})

describe('an answer with several calls', () => {
  const several = (...made: readonly [id: string, args: string][]) =>
    saying(
      {
        role: 'assistant',
        content: null,
        tool_calls: made.map(([id, args]) => ({ id, type: 'function', function: { name: 'guess', arguments: args } })),
      },
      'tool_calls',
    )

  async function playSeveral(answers: readonly object[]) {
    server = await startChatServer((request, number) => answers[number] ?? bisecting(request))
    const policy = createLlmPolicy('llm:odd', 'odd', { ...DEFAULT_OPTIONS, baseUrl: server.url })
    const task = { prompt: 'Find it.' }
    return runEpisode({ createEnvironment: () => connection().environment(), policy, task, seed: 'world' })
  }

  it('has each of them played as a step, and answered in the next request', async () => {
    const { steps } = await playSeveral([several(['a', '{"value":1}'], ['b', '{"value":2}'], ['c', '{"value":3}'])])
    expect(steps.slice(0, 3).map(({ action }) => action.arguments)).toEqual([{ value: 1 }, { value: 2 }, { value: 3 }])
    expect(steps.slice(0, 4).map(({ completions }) => completions.length)).toEqual([1, 0, 0, 1])
    expect(server!.requests[1]!.messages.slice(2)).toMatchObject([
      { role: 'assistant', tool_calls: [{ id: 'a' }, { id: 'b' }, { id: 'c' }] },
      ...['a', 'b', 'c'].map((id, i) => ({ role: 'tool', tool_call_id: id, content: steps[i]!.observation.text })),
    ])
  })

  it('has the first played alone, and the model asked for one, in a world that wants one call at a time', async () => {
    server = await startChatServer((request, number) =>
      number === 0 ? several(['a', '{"value":1}'], ['b', '{"value":2}']) : bisecting(request),
    )
    const { environment } = await loadWorld(exampleWorld('number-guessing'))
    await using host = createHost({ environments: [{ ...environment, parallelToolCalls: false }] })
    await using one = await connect(inProcess(host))
    const policy = createLlmPolicy('llm:odd', 'odd', { ...DEFAULT_OPTIONS, baseUrl: server.url })
    const task = { prompt: 'Find it.' }
    const { steps } = await runEpisode({ createEnvironment: () => one.environment(), policy, task, seed: 'world' })
    expect(steps[0]!.completions[0]!.calls!.map(({ played }) => played)).toEqual([true, false])
    expect(steps[1]!.completions).toHaveLength(1)
    expect(server.requests[0]).toMatchObject({
      parallel_tool_calls: false,
      messages: [{ content: expect.stringContaining('Call exactly one tool in each answer.') }, {}],
    })
  })

  it('gives ids of their own to calls with one id', async () => {
    await playSeveral([several(['a', '{"value":1}'], ['a', '{"value":2}'])])
    expect(server!.requests[1]!.messages.slice(2)).toMatchObject([
      { tool_calls: [{ id: 'a' }, { id: 'call00001' }] },
      { tool_call_id: 'a' },
      { tool_call_id: 'call00001' },
    ])
  })

  it('is corrected where arguments are not valid, and has the other calls played', async () => {
    const { steps } = await playSeveral([several(['a', '{"value":'], ['b', '{"value":2}'])])
    expect(steps[0]).toMatchObject({ action: { arguments: { value: 2 } } })
    expect(steps[0]!.completions[0]!.calls!.map(({ played }) => played)).toEqual([false, true])
    expect(server!.requests[1]!.messages.slice(2)).toMatchObject([
      { role: 'assistant', tool_calls: [{ id: 'b' }] },
      { role: 'tool', tool_call_id: 'b' },
      { role: 'user', content: 'Your arguments for guess are no JSON object. Call the tool again.' },
    ])
  })

  it('is corrected where a whole number would lose its last digits, and plays one that loses none', async () => {
    const { steps } = await playSeveral([
      several(['a', '{"value":12345678901234567890}'], ['b', `{"value":${2n ** 60n}}`]),
    ])
    expect(steps[0]).toMatchObject({ action: { arguments: { value: 2 ** 60 } } })
    expect(server!.requests[1]!.messages.at(-1)!.content).toContain(
      'Your arguments for guess have 12345678901234567890, whose last digits would be lost',
    )
  })

  it('goes on in a fork between two of them', async () => {
    server = await startChatServer((request, number) =>
      number === 0 ? several(['a', '{"value":1}'], ['b', '{"value":2}'], ['c', '{"value":3}']) : bisecting(request),
    )
    const leaves = await runTree({
      createEnvironment: () => connection().environment(),
      policy: createLlmPolicy('llm:odd', 'odd', { ...DEFAULT_OPTIONS, baseUrl: server.url }),
      task: { prompt: 'Find it.' },
      seed: 'tree',
      points: [{ lines: 2, at: 2 }],
      branchSeed: 'forks',
    })
    for (const { episode } of leaves)
      expect(episode.steps.slice(0, 3).map(({ action }) => action.arguments.value)).toEqual([1, 2, 3])
    const second = server.requests.filter(({ messages }) => messages.length === 6)
    expect(second).toHaveLength(2)
    expect(second[0]!.messages).toEqual(second[1]!.messages)
  })
})
