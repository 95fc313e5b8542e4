import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { runEpisode } from '@episodic/env'
import { nextGuess } from '@episodic/models/bisect.fixture'
import { DEFAULT_OPTIONS } from '@episodic/models/model-options'
import { createLlmPolicy } from '@episodic/models/policy/llm-policy'
import { afterEach, describe, expect, it } from 'vitest'
import { useGuessing } from './guessing.fixture.ts'

const connection = useGuessing({ OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k', GEMINI_API_KEY: 'k' })

let server: Server | null = null
afterEach(() => void server?.close())

// biome-ignore lint/suspicious/noExplicitAny: what providers are sent is only looked at here.
type Json = any
type Api = 'chat' | 'anthropic' | 'google'
interface Reply {
  readonly status?: number
  readonly body: object | string
}

/** A call of an API, which guesses well, and more of the answer. */
const guessing: Readonly<Record<Api, (body: Json, more?: object) => object>> = {
  chat: (body, more = {}) => ({
    id: 'c',
    choices: [
      { message: { content: null, tool_calls: [chatCall(argsOf(body))], ...more }, finish_reason: 'tool_calls' },
    ],
    usage: { prompt_tokens: 10, completion_tokens: 5 },
  }),
  anthropic: (body, more = {}) => message([use(body)], more),
  google: (body, more = {}) => ({
    candidates: [{ content: { role: 'model', parts: [functionCall(body)] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5 },
    ...more,
  }),
}
const argsOf = (body: Json) => ({ value: nextGuess(JSON.stringify(body.messages ?? body.contents)) })
const chatCall = (args: object | string) => ({
  id: 'c1',
  type: 'function',
  function: { name: 'guess', arguments: typeof args === 'string' ? args : JSON.stringify(args) },
})
const use = (body: Json) => ({
  type: 'tool_use',
  id: `toolu_${body.messages.length}`,
  name: 'guess',
  input: argsOf(body),
})
const functionCall = (body: Json) => ({ functionCall: { name: 'guess', args: argsOf(body) } })
const message = (content: unknown, more: object = {}) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content,
  stop_reason: 'tool_use',
  usage: { input_tokens: 10, output_tokens: 5 },
  ...more,
})

/** Plays with a server that answers with what `answer` returns, and else guesses. Numbers count from 0. */
async function play(api: Api, answer: (body: Json, number: number) => Reply | null) {
  const requests: Json[] = []
  server = createServer(async (incoming, response) => {
    const body = await json(incoming)
    requests.push(body)
    const { status = 200, body: said } = answer(body, requests.length - 1) ?? { body: guessing[api](body) }
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(typeof said === 'string' ? said : JSON.stringify(said))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  const policy = createLlmPolicy('llm:m', 'm', { ...DEFAULT_OPTIONS, api, baseUrl })
  const createEnvironment = () => connection().environment()
  const episode = await runEpisode({ createEnvironment, policy, task: { prompt: 'Find it.' }, seed: 'world' })
  const answers = episode.steps.flatMap(({ completions }) => completions)
  return { episode, requests, answers }
}

const solved = { kind: 'finished', end: { reason: 'solved' } }
const failed = (message: string, more: object = {}) => ({ error: { message, ...more } })

describe('a mistake of the model that its server says as an error', () => {
  const groq = "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details."
  it.each<[string, Api, Reply, string | null]>([
    [
      'Groq, of a stream',
      'chat',
      { body: `data: ${JSON.stringify(failed(groq, { failed_generation: '<f>{' }))}\n\n` },
      '<f>{',
    ],
    [
      'Groq, of a schema',
      'chat',
      { status: 400, body: failed('tool call validation failed: expected array', { code: 'tool_use_failed' }) },
      null,
    ],
    [
      'Groq, of an output',
      'chat',
      { status: 400, body: failed('Parsing failed.', { code: 'output_parse_failed' }) },
      null,
    ],
    [
      'llama.cpp',
      'chat',
      {
        status: 500,
        body: failed('Failed to parse input at pos 9: <tool_call>[x', { code: 500, type: 'server_error' }),
      },
      '<tool_call>[x',
    ],
    [
      'Ollama',
      'chat',
      { status: 500, body: { error: `error parsing tool call: raw='{"a":1}]', err=invalid` } },
      '{"a":1}]',
    ],
    [
      'vLLM with gpt-oss, in an answer with 200',
      'chat',
      { body: failed('unexpected tokens remaining in message header: Some("to=functions.guess")', { code: 400 }) },
      null,
    ],
    ['TGI', 'chat', { status: 422, body: { error: 'Tool error: no function', error_type: 'tool_error' } }, null],
    [
      'Bedrock',
      'chat',
      {
        status: 424,
        body: { message: 'Model produced invalid sequence as part of ToolUse. Please refer to the guide.' },
      },
      null,
    ],
    [
      'OpenRouter',
      'chat',
      {
        body: {
          choices: [
            {
              message: { content: null },
              finish_reason: 'error',
              native_finish_reason: 'MALFORMED_FUNCTION_CALL',
              error: { code: 502, message: 'Upstream error' },
            },
          ],
        },
      },
      null,
    ],
    [
      'a server of Anthropic',
      'anthropic',
      { status: 400, body: { type: 'error', error: { message: groq, failed_generation: '<f>{' } } },
      '<f>{',
    ],
    [
      'Google',
      'google',
      {
        body: { candidates: [{ finishReason: 'UNEXPECTED_TOOL_CALL', finishMessage: 'Malformed function call: x(' }] },
      },
      'Malformed function call: x(',
    ],
  ])('is an answer without an action: %s', async (_, api, reply, text) => {
    const { episode, requests, answers } = await play(api, (_, number) => (number === 1 ? reply : null))
    expect(episode).toMatchObject(solved)
    expect(answers[1]).toMatchObject({ text, finish: 'malformed_function_call' })
    // It is not asked for another try of the same, and learns of it.
    expect(JSON.stringify(requests[2])).toContain('Your call of a tool could not be read')
    expect(JSON.stringify(requests[1])).not.toContain('could not be read')
  })

  it('ends the episode as no action after three in a row, and no run', async () => {
    const reply = { status: 400, body: failed(groq, { code: 'tool_use_failed', failed_generation: '<f>{' }) }
    const { episode, requests } = await play('chat', () => reply)
    expect(episode).toMatchObject({ kind: 'finished', end: { kind: 'truncated', reason: 'no-action' } })
    expect(requests).toHaveLength(3)
    expect(requests[1].messages.at(-2)).toEqual({ role: 'assistant', content: '<f>{' })
  })

  it.each([
    ['another code', failed('Upstream hiccup', { code: 'bad_request' })],
    ['a schema of ours', failed('Invalid schema for function "guess": failed to parse schema')],
  ])('is distinguished from a refusal with %s', async (_, body) => {
    const { episode } = await play('chat', () => ({ status: 400, body }))
    expect(episode).toMatchObject({ kind: 'failed', cause: { code: 'model-refused' } })
  })
})

describe('an answer of Anthropic or Google that the library does not know', () => {
  it.each<[string, Api, (body: Json) => object]>([
    ['a usage of null', 'anthropic', (body) => guessing.anthropic(body, { usage: { input_tokens: null } })],
    ['a call without an id', 'anthropic', (body) => message([{ ...use(body), id: undefined }])],
    ['a call with a caller of another kind', 'anthropic', (body) => message([{ ...use(body), caller: { type: 'x' } }])],
    ['fields of other types', 'anthropic', (body) => guessing.anthropic(body, { container: 1, stop_sequence: 5 })],
    [
      'citations of another kind',
      'anthropic',
      (body) => message([{ type: 'text', text: 'I', citations: [1] }, use(body)]),
    ],
    [
      'ratings of another shape',
      'google',
      (body) => guessing.google(body, { promptFeedback: { safetyRatings: 'low' } }),
    ],
  ])('is played: %s, %s', async (_, api, answer) => {
    const { episode, requests } = await play(api, (body) => ({ body: answer(body) }))
    expect(episode).toMatchObject(solved)
    expect(requests).toHaveLength(episode.steps.length)
  })

  it('costs what is not known, and not 0, if nothing is counted', async () => {
    const uncounted = (body: Json) => ({ body: guessing.anthropic(body, { usage: undefined }) })
    expect((await play('anthropic', uncounted)).answers[0]).toMatchObject({ cost: null })
  })

  it('has parts that nobody knows in its record', async () => {
    const { answers } = await play('anthropic', (body) => ({
      body: message([{ type: 'novelty', data: 1 }, use(body)]),
    }))
    expect(answers[1]?.request?.messages.at(-2)).toMatchObject({ unknown: [{ type: 'novelty', data: 1 }] })
  })

  it.each<[string, Api, Reply]>([
    ['an error with 200', 'google', { body: failed('Overloaded', { code: 503, status: 'UNAVAILABLE' }) }],
    ['an error with 200, in a list', 'google', { body: [failed('Overloaded', { code: 503 })] }],
    ['a page', 'anthropic', { body: '<html>Overloaded</html>' }],
    ['JSON that was cut off', 'anthropic', { body: '{"content":[' }],
  ])('is asked for again after %s, %s', async (_, api, reply) => {
    const { episode, requests } = await play(api, (_, number) => (number === 1 ? reply : null))
    expect(episode).toMatchObject(solved)
    expect(requests[2]).toEqual(requests[1])
  })
})

describe('white space beside a call', () => {
  it.each<[string, Api, (body: Json) => object, (request: Json) => Json[]]>([
    [
      'Google',
      'google',
      (body) => ({ candidates: [{ content: { parts: [{ text: ' \n' }, functionCall(body)] }, finishReason: 'STOP' }] }),
      ({ contents }) => contents.filter(({ role }: Json) => role === 'model').flatMap(({ parts }: Json) => parts),
    ],
    [
      'chat completions, in parts',
      'chat',
      (body) => guessing.chat(body, { content: [{ type: 'text', text: ' ' }] }),
      ({ messages }) => messages.map(({ content }: Json) => ({ text: content ?? undefined })),
    ],
  ])('does not go back: %s', async (_, api, answer, partsOf) => {
    const { episode, requests } = await play(api, (body) => ({ body: answer(body) }))
    expect(episode).toMatchObject(solved)
    const parts = requests.flatMap(partsOf)
    expect(parts.length).toBeGreaterThan(0)
    expect(parts.filter(({ text }) => text !== undefined && String(text).trim() === '')).toEqual([])
  })

  it('goes back with its signature', async () => {
    const signed = { text: ' ', thoughtSignature: 'c2ln' }
    const { requests } = await play('google', (body) => ({
      body: { candidates: [{ content: { parts: [signed, functionCall(body)] }, finishReason: 'STOP' }] },
    }))
    expect(requests[1].contents[1].parts[0]).toEqual(signed)
  })
})

describe('a full context', () => {
  it.each<[string, Api, Reply]>([
    ['413 without a word', 'anthropic', { status: 413, body: '' }],
    ['a size', 'google', { status: 400, body: failed('Request payload size exceeds the limit: 20971520 bytes.') }],
    ['413', 'chat', { status: 413, body: failed('Request too large') }],
    [
      'an end, as a gateway quotes it',
      'chat',
      {
        body: {
          choices: [
            {
              message: { content: '' },
              finish_reason: 'length',
              native_finish_reason: 'model_context_window_exceeded',
            },
          ],
        },
      },
    ],
  ])('spends the budget: %s, %s', async (_, api, reply) => {
    const { episode, requests } = await play(api, (_, number) => (number < 2 ? null : reply))
    expect(episode).toMatchObject({ kind: 'finished', end: { kind: 'truncated', reason: 'budget-spent' } })
    expect(requests).toHaveLength(3)
  })

  it('plays the calls that are in the last answer', async () => {
    const { episode } = await play('anthropic', (body) => ({
      body: guessing.anthropic(body, { stop_reason: 'model_context_window_exceeded' }),
    }))
    expect(episode).toMatchObject(solved)
  })
})

it.each(['', ' ', 'null', '""', '[]', 'None', 'undefined'])('reads the arguments %j as none', async (args) => {
  const { episode, requests } = await play('chat', (body, number) =>
    number === 0 ? { body: guessing.chat(body, { tool_calls: [chatCall(args)] }) } : null,
  )
  expect(episode).toMatchObject(solved)
  // The world says what is missing, and the server gets JSON back.
  expect(episode.steps[0]).toMatchObject({ action: { tool: 'guess', arguments: {} }, info: { refused: 'arguments' } })
  expect(requests[1].messages[2].tool_calls[0].function.arguments).toBe('{}')
})

describe('a quota that is spent', () => {
  it.each<[string, Api, object]>([
    ['OpenAI', 'chat', failed('No money.', { code: 'insufficient_quota' })],
    ['Groq', 'chat', failed('Rate limit reached on tokens per day (TPD): Limit 100000. Please try again in 7m.')],
  ])('is not asked for again: %s', async (_, api, body) => {
    const { episode, requests } = await play(api, () => ({ status: 429, body }))
    expect(episode).toMatchObject({ kind: 'failed', cause: { code: 'model-refused' } })
    expect(String((episode as { cause?: unknown }).cause)).toContain('is spent: raise it')
    expect(requests).toHaveLength(1)
  })

  it('is no limit of a minute whose words offer more of a day', async () => {
    const body = failed('Rate limit exceeded: free-models-per-min. Add credits to unlock 1000 requests per day')
    const { episode, requests } = await play('chat', (_, number) => (number === 0 ? { status: 429, body } : null))
    expect(episode).toMatchObject(solved)
    expect(requests[1]).toEqual(requests[0])
  })
})
